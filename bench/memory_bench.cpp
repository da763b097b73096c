// Memory: what a day of five million jobs takes, from their making to the result.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "base/check.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita {
namespace {

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// 10,000 GPUs at the load of eight GPUs at rate 20 get about 5.2 million jobs in 24 hours.
void five_million_jobs(benchmark::State& state) {
  constexpr std::uint32_t kGpus = 10'000;
  workload::PapersOptions workload_options;
  workload_options.rate = 2.5 * kGpus;
  workload_options.seed = 7;
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  sim::RunOptions options;
  options.model = &model;
  options.gpus = kGpus;
  options.power = &model.power_curves.front();
  options.preemption.mode = decide::Preemption::Mode::kNone;
  auto repartitioner = policies::make_repartitioner("static:2", model, kGpus);
  auto scheduler = policies::make_scheduler("edf-ss", 1);
  CHECK(repartitioner.ok() && scheduler.ok());
  std::size_t jobs = 0;
  for (auto _ : state) {
    auto source = workload::make_papers(workload_options);
    CHECK(source.ok());
    auto trace = workload::read_all(**source);
    CHECK(trace.ok());
    jobs = trace->jobs.size();
    state.counters["trace_bytes_per_job"] =
        static_cast<double>(trace->memory_bytes()) / static_cast<double>(jobs);
    auto result = sim::simulate(*trace, options, **scheduler, **repartitioner);
    CHECK(result.ok());
    benchmark::DoNotOptimize(result->energy_j);
  }
  state.counters["jobs"] = static_cast<double>(jobs);
  state.counters["peak_rss_mib"] = peak_rss_mib();
}
BENCHMARK(five_million_jobs)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace partita
