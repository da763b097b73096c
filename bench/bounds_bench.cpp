// How fast bounds are found: one evaluation of prices, the check, and the whole search.
#include <benchmark/benchmark.h>

#include "base/check.h"
#include "bounds/prices/ascent.h"
#include "bounds/prices/price_check.h"
#include "bounds/report.h"
#include "bounds/simple_bounds.h"
#include "workload/generators/papers.h"

namespace {

using namespace partita;

// The day of smart-mig at rate 20 on 8 GPUs, or several days' worth at once.
bounds::Problem day(double rate, std::uint32_t gpus) {
  workload::PapersOptions options;
  options.hours = 24;
  options.rate = rate;
  options.seed = 7;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  const Result<workload::Trace> trace = workload::read_all(**source);
  CHECK(trace.ok());
  const mig::GpuModel* model = *mig::find_gpu("a100-40gb");
  auto problem = bounds::make_problem(
      *trace, {model, &model->power_curves.front(), gpus, Micros::seconds(86'400)});
  CHECK(problem.ok());
  return *std::move(problem);
}

void evaluate(benchmark::State& state) {
  const bounds::Problem problem = day(20, 8);
  const bounds::Weights weights = bounds::weights_of(bounds::Kind::kEt, problem, 2e-7);
  const bounds::Effort effort{.rounds = 5, .rounds_by_mode = 5};
  const bounds::PriceGrid grid = bounds::search_prices(problem, weights, effort).grid;
  for (auto _ : state) {
    benchmark::DoNotOptimize(bounds::evaluate_prices(problem, weights, grid).value);
  }
  state.counters["jobs/s"] = benchmark::Counter(static_cast<double>(problem.jobs.size()),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(evaluate)->Unit(benchmark::kMillisecond);

void check(benchmark::State& state) {
  const bounds::Problem problem = day(20, 8);
  const bounds::Weights weights = bounds::weights_of(bounds::Kind::kEt, problem, 2e-7);
  const bounds::Effort effort{.rounds = 5, .rounds_by_mode = 5};
  const bounds::PriceGrid grid = bounds::search_prices(problem, weights, effort).grid;
  for (auto _ : state) benchmark::DoNotOptimize(*bounds::proven_value(problem, weights, grid));
}
BENCHMARK(check)->Unit(benchmark::kMillisecond);

// The same where jobs run whole.
void evaluate_whole(benchmark::State& state) {
  const bounds::Problem problem = day(20, 8);
  const bounds::Weights weights = bounds::weights_of(bounds::Kind::kEt, problem, 2e-7);
  const bounds::Effort effort{.rounds_by_mode = 10, .runs = bounds::Runs::kWhole};
  const bounds::PriceGrid grid = bounds::search_prices(problem, weights, effort).grid;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        bounds::evaluate_prices(problem, weights, grid, bounds::Runs::kWhole).value);
  }
  state.counters["jobs/s"] = benchmark::Counter(static_cast<double>(problem.jobs.size()),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(evaluate_whole)->Unit(benchmark::kMillisecond);

void check_whole(benchmark::State& state) {
  const bounds::Problem problem = day(20, 8);
  const bounds::Weights weights = bounds::weights_of(bounds::Kind::kEt, problem, 2e-7);
  const bounds::Effort effort{.rounds_by_mode = 10, .runs = bounds::Runs::kWhole};
  const bounds::PriceGrid grid = bounds::search_prices(problem, weights, effort).grid;
  for (auto _ : state) {
    benchmark::DoNotOptimize(*bounds::proven_value(problem, weights, grid, bounds::Runs::kWhole));
  }
}
BENCHMARK(check_whole)->Unit(benchmark::kMillisecond);

// The argument is a kind; the counter is the bound.
void whole_search(benchmark::State& state) {
  const bounds::Problem problem = day(20, 8);
  bounds::Request request;
  request.kinds = {static_cast<bounds::Kind>(state.range(0))};
  double value = 0;
  for (auto _ : state) {
    value = bounds::find_bounds(problem, request).best(request.kinds.front())->value;
  }
  state.counters["bound"] = value;
}
BENCHMARK(whole_search)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kSecond)->Iterations(1);

// Formulas, on a hundred times the jobs and GPUs.
void formulas(benchmark::State& state) {
  const bounds::Problem problem = day(2'000, 800);
  for (auto _ : state) {
    benchmark::DoNotOptimize(bounds::linear_energy_j(problem));
    benchmark::DoNotOptimize(bounds::matching_tardiness_s(problem));
    benchmark::DoNotOptimize(bounds::fastest_tardiness_s(problem));
  }
  state.counters["jobs/s"] = benchmark::Counter(static_cast<double>(problem.jobs.size()),
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(formulas)->Unit(benchmark::kMillisecond);

}  // namespace
