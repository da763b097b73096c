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
    decide::ForecastQuestion question{
        .requests = {}, .arrivals = future, .until = Micros::seconds(1'000'000'000)};
    forecast = view.forecaster->forecast(question);
    ask_with_limits(view, question);
    std::vector<GpuId> all;
    for (std::uint32_t gpu = 0; gpu < view.cluster.gpu_count(); ++gpu) all.push_back(GpuId{gpu});
    question.gpus = all;
    of_all_gpus = view.forecaster->forecast(question);
    question.arrivals = {};
    question.gpus = {};
    as_it_is = view.forecaster->forecast(question);
    for (const GpuId& gpu : all) {
      question.gpus = {&gpu, 1};
      const decide::ForecastCost cost = view.forecaster->forecast(question);
      each_alone.energy_j += cost.energy_j;
      each_alone.tardiness_s += cost.tardiness_s;
    }
    any_waiting = false;
    for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
      const cluster::JobHandle job{i};
      any_waiting = any_waiting || (view.jobs.present(job) && !view.jobs[job].running());
    }
  }

  Micros asked_at;
  std::optional<decide::ForecastCost> forecast;
  decide::ForecastCost of_all_gpus;  // the same question about a part that is the whole
  decide::ForecastCost as_it_is;     // without arrivals
  decide::ForecastCost each_alone;   // the same of each GPU, summed
  bool any_waiting = false;

 private:
  // A forecast is broken off only where its cost exceeds the limit, and then some limits do it.
  void ask_with_limits(const decide::View& view, decide::ForecastQuestion question) {
    const double per_joule = 1e-6;
    const double per_tardy_second = 1e-3;
    const double cost = per_joule * forecast->energy_j + per_tardy_second * forecast->tardiness_s;
    for (const double share : {0.0, 0.3, 0.9, 1.0, 1.1}) {
      question.limit = decide::CostLimit{per_joule, per_tardy_second, share * cost};
      const decide::ForecastCost limited = view.forecaster->forecast(question);
      if (limited.over_limit) {
        EXPECT_LT(share, 1.0);
        EXPECT_LE(limited.events, forecast->events);
        ++broken_off;
        continue;
      }
      EXPECT_EQ(limited.tardiness_s, forecast->tardiness_s);
      EXPECT_EQ(limited.events, forecast->events);
      EXPECT_NEAR(limited.energy_j, forecast->energy_j, 1e-6 + 1e-9 * forecast->energy_j);
    }
  }

 public:
  int broken_off = 0;

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

// Gives how many forecasts were broken off.
int forecasts_what_happens(const cases::Case& each, std::uint64_t turn) {
  const auto scheduler = policies::make_scheduler(each.scheduler, each.seed);
  const auto copy = policies::make_scheduler(each.scheduler, each.seed);
  AsksOnce repartitioner(each.layouts, each.trace, turn);
  sim::RunExtras extras;
  extras.forecast_scheduler = copy->get();
  const auto result =
      sim::simulate(each.trace, cases::options_of(each), **scheduler, repartitioner, extras);
  const auto plain = cases::run_engine(each);
  EXPECT_EQ(result.ok(), plain.ok());
  if (!result.ok() || !plain.ok()) return 0;
  EXPECT_EQ(cases::to_text(each, *result), cases::to_text(each, *plain)) << "the run was touched";
  if (!repartitioner.forecast) return 0;
  const Rest rest = rest_of(each, *result, repartitioner.asked_at);
  EXPECT_NEAR(repartitioner.forecast->tardiness_s, rest.tardiness_s,
              1e-9 + 1e-12 * rest.tardiness_s);
  EXPECT_NEAR(repartitioner.forecast->energy_j, rest.energy_j, 1e-6 + 1e-9 * rest.energy_j);
  EXPECT_EQ(repartitioner.of_all_gpus.tardiness_s, repartitioner.forecast->tardiness_s);
  EXPECT_EQ(repartitioner.of_all_gpus.events, repartitioner.forecast->events);
  EXPECT_NEAR(repartitioner.of_all_gpus.energy_j, rest.energy_j, 1e-6 + 1e-9 * rest.energy_j);
  // Where jobs stay where they are, the fleet is the sum of its GPUs.
  if (each.preemption.mode == decide::Preemption::Mode::kNone && !repartitioner.any_waiting) {
    EXPECT_NEAR(repartitioner.each_alone.tardiness_s, repartitioner.as_it_is.tardiness_s, 1e-6);
    EXPECT_NEAR(repartitioner.each_alone.energy_j, repartitioner.as_it_is.energy_j,
                1e-6 + 1e-9 * repartitioner.as_it_is.energy_j);
  }
  return repartitioner.broken_off;
}

TEST(Forecast, WithTheTrueFutureIsWhatHappens) {
  int broken_off = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    for (const char* scheduler : {"cedf", "edf-ss", "mdd", "met", "fifo"}) {
      cases::Case each =
          cases::random_case({.seed = seed, .scheduler = scheduler, .may_be_stuck = false});
      each.switches.clear();
      SCOPED_TRACE(cases::to_text(each));
      broken_off += forecasts_what_happens(each, 1 + seed % 12);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(broken_off, 0);
}

}  // namespace
}  // namespace partita
