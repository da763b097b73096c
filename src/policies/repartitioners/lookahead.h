// Lookahead: changes a GPU's layout when running the fleet ahead says that it pays.
//
// At its turn it draws a few futures from what came so far, and asks the forecaster what they cost
// as things are and with one GPU changed. Every candidate meets the same futures, so their
// differences are not blurred by luck. Many candidates are screened on one future; the best of them
// run a race over others, from which those drop out that do not pay; the best on average is taken.
// It may then change one more GPU, up to `moves` a turn.
//
// A fleet of more than `fleet` GPUs is looked at through a sample of that many, in which each
// layout has its share, with the same share of the jobs. One GPU then stands for many: that many
// change together, and a turn comes after that many times the events. So a decision costs the same.
//
// No job is left with no slice to wait for: no change is asked for that would do that, and one that
// a job needs is asked for at once, whatever it costs.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/rng.h"
#include "decide/repartitioner.h"
#include "policies/arrival_model.h"
#include "policies/repartitioners/reach.h"

namespace partita::policies {

struct LookaheadOptions {
  std::vector<mig::Layout> start;       // one a GPU
  std::vector<mig::Layout> candidates;  // layouts it may choose
  std::array<double, 24> profile{};     // of the day's arrivals, mean 1
  Micros horizon;                       // of arrivals in the race; 0: from the jobs
  Micros screen;                        // of arrivals when candidates are screened; 0: as above
  double margin = 1;                    // arrivals it reckons with, of those it expects
  int samples = 4;                      // futures of the race, at least
  int samples_max = 16;                 // and at most: more are drawn while it is not decided
  std::uint64_t every_events = 30;      // for each `fleet` GPUs
  int fleet = 16;                       // GPUs it simulates
  int rest = 4;                         // turns it sits out after a fruitless one in calm times
  int moves = 1;
  int wide = 1;           // layouts tried on GPUs of every layout, not only of one
  int finalists = 3;      // candidates that run the race
  double caution = 2;     // standard errors by which the mean saving must exceed nothing
  double evidence = 0.1;  // it does nothing while the jobs' mean time may be off by this share
  // Breaks forecasts off that cannot end among the best. Changes no decision, only their cost.
  bool pruning = true;
  // Events it may simulate at a turn; about three take a microsecond. When it is spent, the
  // decision is made on what was tried.
  std::uint64_t budget_events = 0;  // 0: no limit
  std::uint64_t seed = 1;
  double loss_max = 0.01;  // for whoever guards it (GuardOptions)
};

class Lookahead : public decide::Repartitioner {
 public:
  explicit Lookahead(LookaheadOptions options);

  std::vector<mig::Layout> initial_layouts(const decide::View&) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return options_.every_events * scale(); }
  bool watches_arrivals() const override { return true; }
  bool needs_forecasts() const override { return true; }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override;
  void job_returned(const decide::View&, cluster::JobHandle) override { look_again_ = true; }
  void relieve(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;
  bool take_layouts(const decide::View& view, std::span<const mig::Layout> layouts) override;
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

  // Events simulated since the run began, for benchmarks.
  std::uint64_t simulated_events() const { return events_total_ + events_; }

 private:
  using Requests = std::vector<decide::LayoutRequest>;

  // A change, what it saved when screened, and what it would save in each future of the race.
  struct Candidate {
    decide::LayoutRequest request;
    mig::Layout from;
    double screened = 0;
    std::vector<double> savings;

    double mean() const;
    // How far the mean may be off: its standard error; 0 with one future.
    double error() const;
  };
  // A stretch of arrivals to come.
  struct Future {
    std::vector<workload::Job> jobs;
    Micros until;
  };

  bool sits_out();
  void ask(const decide::View& view, const decide::LayoutRequest& request, Requests& requests);
  // How many GPUs one stands for.
  std::size_t scale() const {
    return std::max<std::size_t>(1,
                                 options_.start.size() / static_cast<std::size_t>(options_.fleet));
  }
  bool sees_all() const { return seen_.size() == targets_.size(); }
  void choose_seen(const decide::View& view);
  void draw_futures(const decide::View& view);
  void draw(const decide::View& view, Future& future, Micros horizon);
  // The future of that number, drawn when the first candidates get so far.
  const Future& future(const decide::View& view, std::size_t number);
  Micros horizon() const;
  void list_present(const decide::View& view);
  GpuId idlest_gpu_with(const decide::View& view, const mig::Layout& layout) const;

  // Adds the change that pays most to `asked_`; false when none does.
  bool add_best_change(const decide::View& view);
  // GPUs that do as the one that stands for them.
  void add_followers(const decide::View& view, const mig::Layout& from,
                     const decide::LayoutRequest& request, Requests& requests);
  void screen(const decide::View& view);
  void screen_one(const decide::View& view, std::size_t from, const mig::Layout& to, double stay);
  std::vector<mig::Layout> best_targets() const;
  // The cost beyond which a candidate cannot be a finalist any more.
  double screen_limit(double stay) const;
  void race(const decide::View& view);
  bool pays(const Candidate& candidate) const;
  // Whether the best finalist does.
  bool decided() const;
  // Cost of a future with what is asked for and one more change: ET's numerator, per job of a day;
  // infinite when it is certain to exceed the limit.
  double cost(const decide::View& view, const decide::LayoutRequest* another, const Future& future,
              double limit);
  bool budget_spent() const {
    return options_.budget_events > 0 && events_ > options_.budget_events;
  }

  LookaheadOptions options_;
  ArrivalModel arrivals_;
  Rng rng_;
  std::vector<mig::Layout> targets_;  // by GPU: what it last asked for
  int to_sit_out_ = 0;
  bool calm_ = false;      // little of what it foresees is tardiness
  mig::Layout last_from_;  // layout whose change looked best at the last turn
  Reach reach_;
  bool look_again_ = true;            // a job may have no slice to wait for
  std::uint64_t layouts_looked_ = 0;  // version of the layouts when that was last looked at

  // Of this turn.
  std::vector<GpuId> seen_;  // GPUs it simulates, ascending
  Requests asked_;           // changes of these it has decided on
  Future screening_;
  std::vector<Future> futures_;
  double per_joule_ = 0;
  double per_tardy_second_ = 0;
  std::vector<mig::Layout> present_;  // layouts in use, each once
  std::vector<GpuId> giver_;          // by present layout: the GPU that would change
  std::vector<Candidate> candidates_;
  Requests trial_;
  std::uint64_t events_ = 0;  // simulated at this turn
  std::uint64_t events_total_ = 0;
};

}  // namespace partita::policies
