// The controller: a scheduling pass over many GPUs with a long queue, and starting with one.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>

#include "base/check.h"
#include "base/rng.h"
#include "control/controller.h"
#include "policies/registry.h"

namespace partita::control {
namespace {

constexpr decide::Preemption kNone{decide::Preemption::Mode::kNone, {}};

std::unique_ptr<Controller> make(const std::string& scheduler, const std::string& rule,
                                 std::uint32_t gpus, decide::Preemption preemption = kNone) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  std::vector<GpuFact> facts;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    facts.push_back({fmt::format("GPU-{}", i), "A100", GpuId{i}});
  }
  Options options;
  options.pass_interval = Micros{};
  options.preemption = preemption;
  options.limits.queue_jobs_max = 1'000'000;
  options.limits.queue_jobs_per_user_max = 1'000'000;
  options.limits.array_jobs_max = 1'000'000;
  return std::make_unique<Controller>(options, model, facts,
                                      *policies::make_scheduler(scheduler, 1),
                                      *policies::make_repartitioner(rule, model, gpus));
}

Input submission(std::size_t count, double gib) {
  Submit submit;
  submit.owner = {1000, 1000};
  submit.spec.argv = {"train"};
  submit.spec.directory = "/";
  submit.spec.name = "train";
  submit.spec.memory_gib = gib;
  submit.count = count;
  return Input(std::in_place_type<Submit>, std::move(submit));
}

// Every layout step succeeds and every job starts at once.
void settle(Controller& controller, Turn turn, Micros& now, std::vector<launch::AttemptKey>& runs) {
  while (!turn.effects.empty()) {
    std::vector<Input> inputs;
    for (const Effect& effect : turn.effects) {
      if (const auto* each = std::get_if<Create>(&effect)) {
        device::Instance instance;
        instance.key = {each->gpu, 1, fmt::format("MIG-{}-{}", each->gpu.value, now.count)};
        instance.placement = each->placement;
        inputs.emplace_back(std::in_place_type<CreateDone>, each->gpu, each->placement, instance);
      } else if (const auto* gone = std::get_if<Destroy>(&effect)) {
        inputs.emplace_back(std::in_place_type<DestroyDone>, gone->gpu, gone->placement, true);
      } else if (const auto* launch = std::get_if<Launch>(&effect)) {
        launch::Report report;
        report.key = launch->start.key;
        runs.push_back(report.key);
        inputs.emplace_back(std::in_place_type<launch::Report>, report);
      } else if (const auto* stop = std::get_if<Stop>(&effect)) {
        launch::Report report;
        report.kind = launch::Report::Kind::kEnded;
        report.key = stop->key;
        report.exit_code = 143;
        inputs.emplace_back(std::in_place_type<launch::Report>, report);
      }
    }
    now += Micros{1'000};
    turn = controller.step(now, inputs);
  }
}

// 100,000 jobs wait, every slice is busy; a job ends and the next is found for its slice.
void pass(benchmark::State& state, const char* scheduler, const char* rule) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const auto controller = make(scheduler, rule, gpus);
  Micros now = Micros::seconds(1'000);
  std::vector<launch::AttemptKey> runs;
  Result<Turn> begun = controller->restore(now, {}, {}, {});
  CHECK(begun.ok());
  settle(*controller, *std::move(begun), now, runs);
  for (const double gib : {4.0, 9.0, 18.0}) {
    const std::vector<Input> inputs{submission(static_cast<std::size_t>(state.range(1)) / 3, gib)};
    now += Micros{1'000};
    settle(*controller, controller->step(now, inputs), now, runs);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    launch::Report ended;
    ended.kind = launch::Report::Kind::kEnded;
    ended.key = runs[next++];
    ended.exit_code = 0;
    std::vector<Input> inputs;
    inputs.emplace_back(std::in_place_type<launch::Report>, ended);
    now += Micros{1'000};
    Turn turn = controller->step(now, inputs);
    benchmark::DoNotOptimize(turn);
    state.PauseTiming();
    settle(*controller, std::move(turn), now, runs);
    CHECK(next < runs.size());
    state.ResumeTiming();
  }
}
// Jobs of all sizes that can be resumed, half of them with a deadline they may miss.
Input hurried(Rng& rng, Micros now) {
  Submit submit;
  submit.owner = {1000, 1000};
  submit.spec.argv = {"train"};
  submit.spec.directory = "/";
  submit.spec.name = "train";
  submit.spec.memory_gib = rng.uniform(1, 19);
  submit.spec.checkpoint = {"save"};
  const double seconds = std::exp(rng.uniform(3, 9));
  submit.spec.times.back() = micros_from_seconds(seconds);
  if (rng.below(2) == 0)
    submit.spec.deadline = now + micros_from_seconds(seconds * rng.uniform(2, 20));
  return Input(std::in_place_type<Submit>, std::move(submit));
}

// Every slice is busy and many jobs wait: one ends, one comes, and whom to move is decided. What
// the moves lead to is not measured.
void pass_that_moves(benchmark::State& state, const char* scheduler, const char* rule,
                     decide::Preemption preemption) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const auto controller = make(scheduler, rule, gpus, preemption);
  Rng rng(7, 1);
  Micros now = Micros::seconds(1'000'000);
  std::vector<launch::AttemptKey> runs;
  Result<Turn> begun = controller->restore(now, {}, {}, {});
  CHECK(begun.ok());
  settle(*controller, *std::move(begun), now, runs);
  std::vector<Input> first;
  for (std::int64_t i = 0; i < state.range(1); ++i) first.push_back(hurried(rng, now));
  settle(*controller, controller->step(now, first), now, runs);
  now += Micros::seconds(600);  // all have run long enough to be moved
  std::int64_t moved = 0;
  double most = 0;
  for (auto _ : state) {
    state.PauseTiming();
    now += Micros::seconds(1);
    std::vector<Input> inputs{hurried(rng, now)};
    const auto running = [&](launch::AttemptKey key) {
      const Job* job = controller->find(key.job);
      return job->state() == JobState::kRunning && job->progress.attempt == key.number;
    };
    const auto each = std::ranges::find_if(runs, running);
    CHECK(each != runs.end());
    launch::Report ended;
    ended.kind = launch::Report::Kind::kEnded;
    ended.key = *each;
    ended.exit_code = 0;
    inputs.emplace_back(std::in_place_type<launch::Report>, ended);
    state.ResumeTiming();
    const std::clock_t begin = std::clock();  // of this process: others may be busy too
    Turn turn = controller->step(now, inputs);
    const double took = static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC;
    benchmark::DoNotOptimize(turn);
    state.PauseTiming();
    most = std::max(most, took);
    moved += std::ranges::count_if(
        turn.effects, [](const Effect& effect) { return std::holds_alternative<Stop>(effect); });
    settle(*controller, std::move(turn), now, runs);
    state.ResumeTiming();
  }
  state.counters["moved"] = static_cast<double>(moved);
  state.counters["most_ms"] = most;
  state.counters["running"] = static_cast<double>(controller->count(JobState::kRunning));
  state.counters["queued"] = static_cast<double>(controller->count(JobState::kQueued));
}

constexpr decide::Preemption kPays{decide::Preemption::Mode::kPays, Micros::seconds(30)};

BENCHMARK_CAPTURE(pass_that_moves, mdd_static_pays, "mdd", "static:3", kPays)
    ->Args({1'000, 13'500})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);
BENCHMARK_CAPTURE(pass_that_moves, mdd_small_slices_pays, "mdd", "static:12", kPays)
    ->Args({1'000, 70'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);
BENCHMARK_CAPTURE(pass_that_moves, mdd_idle_slices_pays, "mdd", "static:12", kPays)
    ->Args({1'000, 17'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);
BENCHMARK_CAPTURE(pass_that_moves, mdd_static_none, "mdd", "static:3", kNone)
    ->Args({1'000, 13'500})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);
BENCHMARK_CAPTURE(pass, tightest_migm_b, "fifo+tightest", "migm-b")
    ->Args({1'000, 99'999})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(200);
BENCHMARK_CAPTURE(pass, edf_static, "edf-ss", "static:12")
    ->Args({1'000, 99'999})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(200);

}  // namespace
}  // namespace partita::control
