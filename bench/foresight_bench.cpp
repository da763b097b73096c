// What a turn of the daemon takes in which the rule that looks ahead decides, by GPUs and by jobs
// that wait; and the same turn under a rule that does not.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>

#include "base/check.h"
#include "base/rng.h"
#include "control/controller.h"
#include "daemon/policy_pair.h"

namespace partita {
namespace {

using control::Input;

// Processor time of this process, so that others on the machine do not count.
double seconds_now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

class Fleet {
 public:
  Fleet(const std::string& policy, std::uint32_t gpus) {
    beginning_.policy = policy;
    beginning_.seed = 1;
    beginning_.model = **mig::find_gpu("a100-40gb");
    for (std::uint32_t i = 0; i < gpus; ++i) {
      beginning_.gpus.push_back({fmt::format("GPU-{}", i), "A100", GpuId{i}});
    }
    beginning_.options.pass_interval = Micros{};
    auto made = daemon::make_policies(beginning_);
    CHECK(made.ok());
    controller_ = std::make_unique<control::Controller>(
        beginning_.options, beginning_.model, beginning_.gpus, std::move(made->scheduler),
        std::move(made->repartitioner), std::move(made->forecaster));
    auto begun = controller_->restore(now_, {}, {}, {});
    CHECK(begun.ok());
    settle(*std::move(begun));
  }

  // Submits jobs of minutes, some with deadlines that are near, until so many wait.
  void fill(std::size_t waiting) {
    for (std::size_t there = 0; there < waiting;
         there = controller_->count(control::JobState::kQueued)) {
      std::vector<Input> inputs;
      for (std::size_t i = there; i < waiting; ++i) inputs.push_back(submission());
      settle(step(inputs));
    }
  }

  // A job ends and another comes: the turn that follows, without carrying it out.
  control::Turn timed_turn() {
    CHECK(!runs_.empty());
    launch::Report ended;
    ended.kind = launch::Report::Kind::kEnded;
    ended.key = runs_.front();
    ended.exit_code = 0;
    runs_.pop_front();
    std::vector<Input> inputs{submission()};
    inputs.emplace_back(std::in_place_type<launch::Report>, ended);
    return step(inputs);
  }

  // Every layout step succeeds and every job starts at once.
  void settle(control::Turn turn) {
    while (!turn.effects.empty()) {
      std::vector<Input> inputs;
      for (const control::Effect& effect : turn.effects) answer(effect, inputs);
      turn = step(inputs);
    }
  }

 private:
  control::Turn step(const std::vector<Input>& inputs) {
    now_ += Micros::seconds(2);
    return controller_->step(now_, inputs);
  }

  Input submission() {
    control::Submit submit;
    submit.owner = {1000, 1000};
    submit.spec.argv = {"train"};
    submit.spec.directory = "/";
    submit.spec.name = "train";
    submit.spec.memory_gib = rng_.uniform(1, 18);
    submit.spec.times.back() = micros_from_seconds(rng_.uniform(30, 600));
    submit.spec.deadline = now_ + micros_from_seconds(rng_.uniform(600, 36'000));
    return Input(std::in_place_type<control::Submit>, std::move(submit));
  }

  void answer(const control::Effect& effect, std::vector<Input>& inputs) {
    if (const auto* each = std::get_if<control::Create>(&effect)) {
      device::Instance instance;
      instance.key = {each->gpu, 1, fmt::format("MIG-{}-{}", each->gpu.value, now_.count)};
      instance.placement = each->placement;
      inputs.emplace_back(std::in_place_type<control::CreateDone>, each->gpu, each->placement,
                          instance);
    } else if (const auto* gone = std::get_if<control::Destroy>(&effect)) {
      inputs.emplace_back(std::in_place_type<control::DestroyDone>, gone->gpu, gone->placement,
                          true);
    } else if (const auto* launch = std::get_if<control::Launch>(&effect)) {
      launch::Report report;
      report.key = launch->start.key;
      runs_.push_back(report.key);
      inputs.emplace_back(std::in_place_type<launch::Report>, report);
    }
  }

  control::Beginning beginning_;
  std::unique_ptr<control::Controller> controller_;
  Micros now_ = Micros::seconds(1'800'000'000);
  Rng rng_{7};
  std::deque<launch::AttemptKey> runs_;
};

// Mean, and the longest of all turns.
void turns(benchmark::State& state, const char* policy) {
  Fleet fleet(policy, static_cast<std::uint32_t>(state.range(0)));
  fleet.fill(static_cast<std::size_t>(state.range(1)));
  double longest = 0;
  for (auto _ : state) {
    const double before = seconds_now();
    control::Turn turn = fleet.timed_turn();
    const double took = seconds_now() - before;
    state.SetIterationTime(took);
    longest = std::max(longest, took);
    fleet.settle(std::move(turn));
  }
  state.counters["longest_ms"] = longest * 1e3;
}

void sizes(benchmark::internal::Benchmark* each) {
  each->ArgNames({"gpus", "waiting"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t gpus : {2, 8}) {
    for (const std::int64_t waiting : {10, 100, 1'000}) each->Args({gpus, waiting});
  }
  each->Args({64, 10'000});
  each->Iterations(60);
}

// A decision every two events, so that nearly every turn is one.
BENCHMARK_CAPTURE(turns, lookahead, "mdd+slowest/lookahead:every=2,rest=0")->Apply(sizes);
BENCHMARK_CAPTURE(turns, fixed, "mdd+slowest/static:2")->Apply(sizes);

}  // namespace
}  // namespace partita
