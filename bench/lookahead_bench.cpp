// What looking ahead costs: one decision and one forecast at 8, 100 and 1,000 GPUs.

#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "policies/registry.h"
#include "policies/repartitioners/lookahead.h"
#include "policies/repartitioners/lookahead_spec.h"
#include "policies/repartitioners/static_layouts.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita {
namespace {

// Processor time of this process, so that others on the machine do not count.
double seconds_now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The busiest hour of the papers' day, most of it, the load growing with the fleet.
workload::Trace morning(std::uint32_t gpus) {
  workload::PapersOptions options;
  options.rate = 2.5 * gpus;
  options.hours = 0.75;
  for (double& rate : options.hourly_rates) rate = workload::kPapersHourlyRates[10];
  options.mix.deadline_low = 1.0;
  options.mix.deadline_high = 1.5;
  options.seed = 7;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  auto trace = workload::read_all(**source);
  CHECK(trace.ok());
  return *std::move(trace);
}

// Lookahead with a stop watch around each decision.
class Timed : public policies::Lookahead {
 public:
  Timed(policies::LookaheadOptions options, std::uint64_t turns)
      : Lookahead(std::move(options)), turns_left_(turns) {}

  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override {
    if (view.now < Micros::seconds(1800) || turns_left_ == 0) return;
    const std::uint64_t events_before = simulated_events();
    const double before = seconds_now();
    Lookahead::decide(view, requests);
    seconds += seconds_now() - before;
    ++turns;
    --turns_left_;
    events += simulated_events() - events_before;
  }

  double seconds = 0;
  std::uint64_t turns = 0;
  std::uint64_t events = 0;

 private:
  std::uint64_t turns_left_;
};

// Asks for one forecast of eighty minutes of the whole fleet as it is, after half an hour.
class OneForecast : public policies::StaticLayouts {
 public:
  explicit OneForecast(std::vector<mig::Layout> layouts)
      : StaticLayouts(std::move(layouts)), arrivals_(flat()) {}

  std::uint64_t every_events() const override { return 1; }
  bool watches_arrivals() const override { return true; }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override {
    arrivals_.job_arrived(view.jobs[job]);
  }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>&) override {
    if (view.now < Micros::seconds(1800) || events > 0) return;
    Rng rng(1);
    std::vector<workload::Job> future;
    const Micros horizon = view.now + Micros::seconds(4800);
    arrivals_.sample(rng, view.now, horizon, future);
    const double before = seconds_now();
    const decide::ForecastCost cost = view.forecaster->forecast(
        {.requests = {}, .arrivals = future, .until = horizon + Micros::seconds(4 * 3600)});
    seconds = seconds_now() - before;
    events = cost.events;
  }

  double seconds = 0;
  std::uint64_t events = 0;

 private:
  static std::array<double, 24> flat() {
    std::array<double, 24> profile;
    profile.fill(1);
    return profile;
  }

  policies::ArrivalModel arrivals_;
};

struct Setting {
  decide::Preemption::Mode preemption;
  const char* options;
};

struct Fleet {
  Fleet(std::uint32_t gpus, const Setting& setting) : trace(morning(gpus)) {
    const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
    std::string start = "start=1";
    for (std::uint32_t i = 1; i < gpus; ++i) start += std::string("/") + "11222261"[i % 8];
    auto parsed = policies::parse_lookahead(setting.options + start, model, gpus);
    CHECK(parsed.ok());
    options = *std::move(parsed);
    options.rest = 0;
    options.evidence = 1'000;  // every turn decides, though few jobs have come
    run.model = &model;
    run.gpus = gpus;
    run.power = &model.power_curves.front();
    run.preemption.mode = setting.preemption;
    run.repartition_cost = sim::RepartitionCost::kPaper;
  }

  void simulate(decide::Repartitioner& repartitioner) const {
    const auto scheduler = policies::make_scheduler("cedf", 1);
    const auto ahead = policies::make_scheduler("cedf", 1);
    sim::RunExtras extras;
    extras.forecast_scheduler = ahead->get();
    CHECK(sim::simulate(trace, run, **scheduler, repartitioner, extras).ok());
  }

  workload::Trace trace;
  policies::LookaheadOptions options;
  sim::RunOptions run;
};

void decisions(benchmark::State& state, const Setting& setting) {
  const Fleet fleet(static_cast<std::uint32_t>(state.range(0)), setting);
  std::uint64_t turns = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    Timed lookahead(fleet.options, 4);
    fleet.simulate(lookahead);
    CHECK(lookahead.turns > 0 && lookahead.events > 0);
    state.SetIterationTime(lookahead.seconds / static_cast<double>(lookahead.turns));
    turns += lookahead.turns;
    events += lookahead.events;
  }
  state.counters["events"] = static_cast<double>(events) / static_cast<double>(turns);
}

void forecasts(benchmark::State& state, decide::Preemption::Mode mode) {
  const Fleet fleet(static_cast<std::uint32_t>(state.range(0)), {mode, ""});
  std::uint64_t events = 0;
  for (auto _ : state) {
    OneForecast asks(fleet.options.start);
    fleet.simulate(asks);
    state.SetIterationTime(asks.seconds);
    events = asks.events;
  }
  state.counters["events"] = static_cast<double>(events);
}

void decision_free(benchmark::State& state) {
  decisions(state, {decide::Preemption::Mode::kFree, ""});
}
BENCHMARK(decision_free)
    ->Arg(8)
    ->Arg(100)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void decision_none(benchmark::State& state) {
  decisions(state, {decide::Preemption::Mode::kNone, ""});
}
BENCHMARK(decision_none)
    ->Arg(8)
    ->Arg(100)
    ->Arg(1'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Without the sample of the fleet; with free preemption far slower still.
void decision_none_whole_fleet(benchmark::State& state) {
  decisions(state, {decide::Preemption::Mode::kNone, "fleet=100000,"});
}
BENCHMARK(decision_none_whole_fleet)
    ->Arg(100)
    ->Arg(1'000)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void forecast_free(benchmark::State& state) {
  forecasts(state, decide::Preemption::Mode::kFree);
}
BENCHMARK(forecast_free)
    ->Arg(8)
    ->Arg(100)
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void forecast_none(benchmark::State& state) {
  forecasts(state, decide::Preemption::Mode::kNone);
}
BENCHMARK(forecast_none)
    ->Arg(8)
    ->Arg(100)
    ->Arg(1'000)
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace partita
