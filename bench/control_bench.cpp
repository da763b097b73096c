// The controller: a scheduling pass over many GPUs with a long queue, and starting with one.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "control/controller.h"
#include "policies/registry.h"

namespace partita::control {
namespace {

std::unique_ptr<Controller> make(const std::string& scheduler, const std::string& rule,
                                 std::uint32_t gpus) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  std::vector<GpuFact> facts;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    facts.push_back({fmt::format("GPU-{}", i), "A100", GpuId{i}});
  }
  Options options;
  options.pass_interval = Micros{};
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
