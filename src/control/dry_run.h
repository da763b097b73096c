// DryRun: what the daemon would do, carried out on a copy of the fleet that exists nowhere.
//
// The copy is a controller of its own with policies of its own. It is told what comes in, its
// slices take the time of the model to make, and its jobs run for as long as policies expect; so
// later decisions follow from earlier ones, as they would. What it does is said in the log, and at
// the end what it would have cost. It has no clock: the same inputs give the same run.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "control/controller.h"

namespace partita::control {

class DryRun {
 public:
  // `copy` serves the same GPUs, not in shadow mode, and is fresh.
  explicit DryRun(std::unique_ptr<Controller> copy);
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  // What to serve it with: the options of a daemon in shadow mode without the mode, and without
  // limits, since whoever is asked first has kept to them.
  static Options options_of(Options options);

  // As Controller::restore() and step(); what would be done goes to `log`. `taken` are the replies
  // to the inputs: what was refused is not part of it.
  Status begin(Micros now, const store::Contents& contents, std::span<const Inventory> inventories,
               std::span<const launch::Report> attempts, TurnBook& log);
  void step(Micros now, std::span<const Input> inputs, std::span<const Reply> taken, TurnBook& log);

  // Micros::max(): nothing is due.
  Micros next_wake() const;

  // "would have started 12 jobs ...": what it would have cost by then.
  std::string summary(Micros now) const;

  const Controller& copy() const { return *copy_; }

 private:
  void catch_up(Micros now, TurnBook& log);
  std::vector<Reply> take_turn(Micros at, std::span<const Input> inputs, TurnBook& log);
  void carry_out(const Effect& effect, TurnBook& log);
  void launch(const Launch& launch, TurnBook& log);
  void stop(const Stop& stop, TurnBook& log);
  void change(GpuId gpu, mig::Placement placement, bool create, TurnBook& log);
  void plan_end(launch::AttemptKey key, Micros at, int signal);
  void plan(Micros at, Input input);
  void count_energy(Micros until);
  double watts_now() const;
  bool is_wanted(const Input& input, std::span<const Reply> taken);

  std::unique_ptr<Controller> copy_;
  std::multimap<Micros, Input> planned_;       // in order of time, then of planning
  std::map<launch::AttemptKey, Micros> ends_;  // of what runs in the copy only
  JobNumber last_job_ = kNoJob;                // the highest number it knows
  std::string trouble_;                        // why it is over
  std::uint64_t instances_ = 0;
  Micros now_;
  // What it would have cost.
  Micros began_;
  std::uint64_t starts_ = 0;
  std::uint64_t stops_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t destroyed_ = 0;
  double change_s_ = 0;
  double energy_j_ = 0;
};

}  // namespace partita::control
