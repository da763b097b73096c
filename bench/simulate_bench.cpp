// Speed of the simulator: events a second on the papers' day, and how it grows with the fleet.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita {
namespace {

workload::Trace papers_day(double rate, double low, double high) {
  workload::PapersOptions options;
  options.rate = rate;
  options.mix.deadline_low = low;
  options.mix.deadline_high = high;
  options.seed = 7;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  auto trace = workload::read_all(**source);
  CHECK(trace.ok());
  return *std::move(trace);
}

struct Setting {
  const char* scheduler;
  std::string layouts;  // for eight GPUs, repeated over the fleet
  decide::Preemption::Mode preemption;
  Micros cost = {};
};

const Setting kFree{"cedf", "1,2,2,2,2,2,6,10", decide::Preemption::Mode::kFree};
const Setting kNone{"largest-first", "t1,t1,t2,t2,t3,t3,t12,t12", decide::Preemption::Mode::kNone};

void simulate_day(benchmark::State& state, const Setting& setting, std::uint32_t gpus, double low,
                  double high) {
  const workload::Trace trace = papers_day(2.5 * gpus, low, high);
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  std::string layouts = "static:" + setting.layouts;
  for (std::uint32_t i = 8; i < gpus; i += 8) layouts += "," + setting.layouts;
  auto repartitioner = policies::make_repartitioner(layouts, model, gpus);
  auto scheduler = policies::make_scheduler(setting.scheduler, 1);
  CHECK(repartitioner.ok() && scheduler.ok());
  sim::RunOptions options;
  options.model = &model;
  options.gpus = gpus;
  options.power = &model.power_curves.front();
  options.preemption = {setting.preemption, setting.cost};
  std::uint64_t events = 0;
  for (auto _ : state) {
    auto result = sim::simulate(trace, options, **scheduler, **repartitioner);
    CHECK(result.ok());
    events += result->events;
    benchmark::DoNotOptimize(result->energy_j);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["s_per_event"] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void free_preemption_cedf_8_gpus(benchmark::State& state) {
  simulate_day(state, kFree, 8, 1.0, 1.5);
}
BENCHMARK(free_preemption_cedf_8_gpus)->Unit(benchmark::kMillisecond);

// Interruptions at 30 s each, under modified due date: whenever a job would be late, and only where
// it pays.
const Setting kAtCost{"mdd", "1,2,2,2,2,2,6,10", decide::Preemption::Mode::kCost,
                      Micros::seconds(30)};
const Setting kPays{"mdd", "1,2,2,2,2,2,6,10", decide::Preemption::Mode::kPays,
                    Micros::seconds(30)};

void preemption_at_cost_8_gpus(benchmark::State& state) {
  simulate_day(state, kAtCost, 8, 1.0, 1.5);
}
BENCHMARK(preemption_at_cost_8_gpus)->Unit(benchmark::kMillisecond);

void preemption_that_pays_8_gpus(benchmark::State& state) {
  simulate_day(state, kPays, 8, 1.0, 1.5);
}
BENCHMARK(preemption_that_pays_8_gpus)->Unit(benchmark::kMillisecond);

void non_preemptive_largest_first(benchmark::State& state) {
  simulate_day(state, kNone, static_cast<std::uint32_t>(state.range(0)), 2.0, 4.0);
}
BENCHMARK(non_preemptive_largest_first)
    ->Arg(8)
    ->Arg(80)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace partita
