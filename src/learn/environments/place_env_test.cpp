#include "learn/environments/place_env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "base/rng.h"
#include "learn/algorithms/backward.h"
#include "learn/test_support.h"
#include "policies/layout_list.h"
#include "policies/learned/slice_scheduler.h"
#include "policies/repartitioners/static_layouts.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace {

// Counted while a test asks for it.
std::size_t g_allocations = 0;
bool g_counts = false;

}  // namespace

// Not inlined: a compiler that sees one of them and not the other takes them for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (g_counts) ++g_allocations;
  void* at = std::malloc(size == 0 ? 1 : size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (g_counts) ++g_allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

namespace partita::learn {
namespace {

PlaceEnvOptions env_options(PlaceReward reward) {
  PlaceEnvOptions options;
  options.run.model = *mig::find_gpu("a100-40gb");
  options.run.gpus = 3;
  options.run.power = &options.run.model->power_curves.front();
  options.run.preemption.mode = decide::Preemption::Mode::kNone;
  options.run.horizon = Micros::seconds(3 * 3600);
  options.layouts = *policies::parse_layout_list(*options.run.model, 3, "1,2,9");
  options.days = [](std::uint64_t seed) { return short_day(seed, 3, 10); };
  options.reward = reward;
  return options;
}

nn::Model untrained(const PlaceEnv& env) {
  nn::Model model;
  policies::PlaceRules rules;
  rules.encoding = policies::PlaceEncoding::kPublished;
  rules.gpu = "a100-40gb";
  rules.slices = env.slices();
  write_rules(rules, model.facts);
  model.policy = nn::Network(nn::Shape{{rules.inputs(), 8, rules.outputs()}, {}});
  Rng rng(3);
  initialise(model.policy, rng, 1.0F);
  return model;
}

struct Played {
  double rewards = 0;
  std::size_t steps = 0;
};

// The day, with the most likely choice each time: as the scheduler does.
Played play(PlaceEnv& env, const nn::Model& model, std::uint64_t day) {
  const auto width = static_cast<std::size_t>(env.spec().table.choices);
  std::vector<float> state(static_cast<std::size_t>(env.spec().observation));
  std::vector<std::uint8_t> allowed(width);
  std::vector<std::uint16_t> draws(1);
  std::vector<std::uint16_t> table(width);
  nn::Evaluator evaluate;
  Played played;
  env.begin(day);
  for (bool done = false; !done; ++played.steps) {
    env.observe(state, allowed, draws);
    const auto logits = evaluate(model.policy, state);
    std::size_t best = width;
    for (std::size_t i = 0; i < width; ++i) {
      if (allowed[i] != 0 && (best == width || logits[i] > logits[best])) best = i;
    }
    std::ranges::fill(table, std::uint16_t{0});
    table[best] = 1;
    const Step step = env.step(table);
    played.rewards += static_cast<double>(step.reward);
    done = step.done;
  }
  return played;
}

TEST(PlaceEnv, IsTheSimulatorUnderTheScheduler) {
  const PlaceEnvOptions options = env_options(PlaceReward::kCorrected);
  PlaceEnv env(options);
  const nn::Model model = untrained(env);
  const Played played = play(env, model, 5);
  policies::SliceScheduler scheduler(model, *policies::read_place_rules(model));
  policies::StaticLayouts layouts(options.layouts);
  const workload::Trace day = short_day(5, 3, 10);
  const auto result = sim::simulate(day, options.run, scheduler, layouts);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(played.steps, day.jobs.size());
  EXPECT_EQ(env.last_day().et, result->et);
  EXPECT_EQ(env.last_day().late_jobs, result->late_jobs);
  // All but what happened before the first choice, and idle GPUs after the last completion.
  EXPECT_NEAR(-played.rewards, result->et, 0.02 * result->et);
}

TEST(PlaceEnv, ThePublishedRewardsAddUpToTheirParts) {
  PlaceEnvOptions options = env_options(PlaceReward::kPublished);
  options.layouts = *policies::parse_layout_list(*options.run.model, 3, "1");
  PlaceEnv env(options);
  const Played played = play(env, untrained(env), 2);
  const sim::RunResult& day = env.last_day();
  const auto jobs = static_cast<double>(day.jobs);
  const double done = jobs - static_cast<double>(day.late_jobs);
  // Whole GPUs only: a job is on time when it is placed if and only if it is when it is done.
  const double expected = 0.01 * jobs + (0.05 + 0.1) * done -
                          0.2 * day.mean_tardiness_s / 60 * jobs + 10 * (1 - day.late_share()) -
                          day.mean_tardiness_s / 60 - 2.25e-5 * day.energy_w_min() / jobs;
  EXPECT_NEAR(played.rewards, expected, 1e-3 * std::abs(expected));
}

TEST(PlaceEnv, AllocatesNothingFromOneDecisionToTheNext) {
  PlaceEnv env(env_options(PlaceReward::kCorrected));
  const nn::Model model = untrained(env);
  play(env, model, 1);  // as busy as it gets
  env.begin(1);
  std::vector<float> state(static_cast<std::size_t>(env.spec().observation));
  std::vector<std::uint8_t> allowed(static_cast<std::size_t>(env.spec().table.choices));
  std::vector<std::uint16_t> draws(1);
  std::vector<std::uint16_t> table(allowed.size());
  const std::size_t half = short_day(1, 3, 10).jobs.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    env.observe(state, allowed, draws);
    std::ranges::fill(table, std::uint16_t{0});
    table[static_cast<std::size_t>(std::ranges::max_element(allowed) - allowed.begin())] = 1;
    g_counts = i > half / 2;
    env.step(table);
    g_counts = false;
  }
  // A table may grow when more jobs are there than ever before; a step does not allocate.
  EXPECT_GT(half, 50U);
  EXPECT_LE(g_allocations, 2U);
}

}  // namespace
}  // namespace partita::learn
