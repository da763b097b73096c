// Forecasts: a run copied in its middle and run ahead with the jobs that really come gives what
// really happens, and leaves the run as it was.
#include <gtest/gtest.h>

#include <optional>

#include "cases/case.h"
#include "cases/random_case.h"
#include "policies/registry.h"
#include "policies/repartitioners/static_layouts.h"
#include "policies/repartitioners/timetable.h"
#include "sim/engine.h"

namespace partita {
namespace {

// Asks once, in the middle of the run, for a forecast with the true future.
class AsksOnce : public policies::StaticLayouts {
 public:
  AsksOnce(std::vector<mig::Layout> layouts, const workload::Trace& trace, std::uint64_t turn)
      : StaticLayouts(std::move(layouts)), trace_(trace), turn_(turn) {}

  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>&) override {
    if (++turns_ != turn_) return;
    std::vector<workload::Job> future;
    for (const workload::Job& job : trace_.jobs) {
      if (job.arrival > view.now) future.push_back(job);
    }
    asked_at = view.now;
    forecast = view.forecaster->forecast({}, future, Micros::seconds(1'000'000'000));
  }

  Micros asked_at;
  std::optional<decide::ForecastCost> forecast;

 private:
  const workload::Trace& trace_;
  std::uint64_t turn_;
  std::uint64_t turns_ = 0;
};

// Tardiness of the jobs that completed at or after the question, and energy above idle from then
// on.
struct Rest {
  double tardiness_s = 0;
  double energy_j = 0;
};

Rest rest_of(const cases::Case& each, const sim::RunResult& result, Micros from) {
  Rest rest;
  for (const sim::JobRecord& job : result.job_records) {
    if (job.completion <= from) continue;
    rest.tardiness_s += std::max(0.0, (job.completion - job.deadline).to_seconds());
  }
  // Board power is not a sum over slices, so energy is integrated over the instants of change.
  const std::vector<double>& watts = cases::power_of(each).watts;
  const mig::GpuModel& model = cases::model_of(each);
  std::vector<std::pair<Micros, std::pair<std::uint32_t, int>>> changes;
  for (const sim::SchedulePiece& piece : result.schedule) {
    const int slices = model.profiles[piece.profile].compute_slices;
    const std::uint32_t gpu = cluster::gpu_of(piece.slice).value;
    if (piece.end <= from) continue;
    changes.push_back({std::max(piece.begin, from), {gpu, slices}});
    changes.push_back({piece.end, {gpu, -slices}});
  }
  std::sort(changes.begin(), changes.end());
  std::vector<int> busy(each.layouts.size(), 0);
  Micros last = from;
  for (const auto& [time, change] : changes) {
    for (const int level : busy) {
      rest.energy_j +=
          (watts[static_cast<std::size_t>(level)] - watts[0]) * (time - last).to_seconds();
    }
    last = time;
    busy[change.first] += change.second;
  }
  return rest;
}

void forecasts_what_happens(const cases::Case& each, std::uint64_t turn) {
  const auto scheduler = policies::make_scheduler(each.scheduler, each.seed);
  const auto copy = policies::make_scheduler(each.scheduler, each.seed);
  AsksOnce repartitioner(each.layouts, each.trace, turn);
  sim::RunExtras extras;
  extras.forecast_scheduler = copy->get();
  const auto result =
      sim::simulate(each.trace, cases::options_of(each), **scheduler, repartitioner, extras);
  const auto plain = cases::run_engine(each);
  ASSERT_EQ(result.ok(), plain.ok());
  if (!result.ok()) return;
  EXPECT_EQ(cases::to_text(each, *result), cases::to_text(each, *plain)) << "the run was touched";
  if (!repartitioner.forecast) return;
  const Rest rest = rest_of(each, *result, repartitioner.asked_at);
  EXPECT_NEAR(repartitioner.forecast->tardiness_s, rest.tardiness_s,
              1e-9 + 1e-12 * rest.tardiness_s);
  EXPECT_NEAR(repartitioner.forecast->energy_j, rest.energy_j, 1e-6 + 1e-9 * rest.energy_j);
}

TEST(Forecast, WithTheTrueFutureIsWhatHappens) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    for (const char* scheduler : {"cedf", "edf-ss", "mdd", "met", "fifo"}) {
      cases::Case each =
          cases::random_case({.seed = seed, .scheduler = scheduler, .may_be_stuck = false});
      each.switches.clear();
      SCOPED_TRACE(cases::to_text(each));
      forecasts_what_happens(each, 1 + seed % 12);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace partita
