// Lookahead: changes a GPU's layout when running the fleet ahead says that it pays.
//
// At its turn it draws a few futures from what came so far, and asks the forecaster what the next
// stretch costs as things are and with one GPU changed to each other layout. Every candidate meets
// the same futures, so their differences are not blurred by luck. All candidates are tried on one
// future, the best of them on the rest; the best on average is taken if it is cheaper than staying.
// It may then change one more GPU, up to `moves` a turn.
#pragma once

#include <vector>

#include "base/rng.h"
#include "decide/repartitioner.h"
#include "policies/arrival_model.h"

namespace partita::policies {

struct LookaheadOptions {
  std::vector<mig::Layout> start;       // one a GPU
  std::vector<mig::Layout> candidates;  // layouts it may choose
  std::array<double, 24> profile{};     // of the day's arrivals, mean 1
  Micros horizon = Micros::seconds(2400);
  int samples = 4;
  std::uint64_t every_events = 30;
  int moves = 1;
  int finalists = 3;   // candidates tried on all futures
  double caution = 1;  // standard errors by which the mean saving must exceed nothing
  // Events it may simulate at a turn; about three take a microsecond. When the next round of
  // candidates would not fit, it decides on what it has.
  std::uint64_t budget_events = 0;  // 0: no limit
  std::uint64_t seed = 1;
};

class Lookahead : public decide::Repartitioner {
 public:
  explicit Lookahead(LookaheadOptions options);

  std::vector<mig::Layout> initial_layouts(const decide::View&) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return options_.every_events; }
  bool watches_arrivals() const override { return true; }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override;
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

 private:
  // A change and what it would save in each future tried.
  struct Candidate {
    decide::LayoutRequest request;
    std::vector<double> savings;

    double mean() const;
    // How far the mean may be off: its standard error; 0 with one future.
    double error() const;
  };

  void draw_futures(const decide::View& view);
  // Cost of one future with these requests: ET's numerator, per job of a day.
  double cost(const decide::View& view, const std::vector<decide::LayoutRequest>& requests,
              std::size_t future);
  void list_candidates(const decide::View& view);
  // Adds the change that pays most to `requests`; false when none does.
  bool add_best_change(const decide::View& view, std::vector<decide::LayoutRequest>& requests);
  // Tries all candidates on one future, as far as the budget goes.
  void try_on(const decide::View& view, const std::vector<decide::LayoutRequest>& requests,
              std::size_t future);
  bool budget_spent() const {
    return options_.budget_events > 0 && events_ > options_.budget_events;
  }
  GpuId idlest_gpu_with(const decide::View& view, const mig::Layout& layout) const;

  LookaheadOptions options_;
  ArrivalModel arrivals_;
  Rng rng_;
  std::vector<mig::Layout> targets_;  // by GPU: what it last asked for
  std::vector<std::vector<workload::Job>> futures_;
  std::vector<Candidate> candidates_;
  std::vector<decide::LayoutRequest> trial_;
  std::uint64_t events_ = 0;  // simulated at this turn
};

}  // namespace partita::policies
