// One property suite for every scheduler: whatever it decides, the run must be true to the model.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/rng.h"
#include "cases/case.h"
#include "cases/papers_day.h"
#include "cases/random_case.h"
#include "checker/schedule_checker.h"
#include "nn/model.h"
#include "policies/learned/place_rules.h"
#include "policies/learned/place_scheduler.h"
#include "policies/registry.h"
#include "policies/repartitioners/static_layouts.h"

namespace partita {
namespace {

constexpr std::uint64_t kCasesPerScheduler = 300;
constexpr std::uint64_t kFirstSeed = 50'000;

cases::Draw draw_of(const std::string& scheduler, std::uint64_t seed) {
  return {
      .seed = seed, .scheduler = scheduler, .jobs_max = 80, .gpus_max = 8, .may_be_stuck = false};
}

class EveryScheduler : public testing::TestWithParam<std::string> {};

TEST_P(EveryScheduler, KeepsEveryRuleOfTheModel) {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kCasesPerScheduler; ++seed) {
    const cases::Case each = cases::random_case(draw_of(GetParam(), seed));
    const Result<sim::RunResult> result = cases::run_engine(each);
    ASSERT_TRUE(result.ok()) << result.error().message << "\n" << cases::to_text(each);
    const bool waits = policies::scheduler_facts(GetParam())->may_wait;
    const checker::Expectations expected{.work_conserving = each.switches.empty() && !waits};
    const auto found = checker::violations(each.trace, cases::options_of(each), *result, expected);
    ASSERT_TRUE(found.empty()) << GetParam() << ", case seed " << seed << ":\n  "
                               << fmt::format("{}", fmt::join(found, "\n  "))
                               << "\nas a scenario file:\n"
                               << cases::to_text(each);
  }
}

TEST_P(EveryScheduler, KeepsEveryRuleOfTheModelWhenMemoryGrows) {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kCasesPerScheduler / 3; ++seed) {
    cases::Draw draw = draw_of(GetParam(), seed);
    draw.memory_grows = true;
    const cases::Case each = cases::random_case(draw);
    const Result<sim::RunResult> result = cases::run_engine(each);
    // A projection may ask for more than any slice of these layouts has.
    if (!result.ok() && each.memory.early_restart) continue;
    ASSERT_TRUE(result.ok()) << result.error().message << "\n" << cases::to_text(each);
    const auto found = checker::violations(each.trace, cases::options_of(each), *result, {});
    ASSERT_TRUE(found.empty()) << GetParam() << ", case seed " << seed << ":\n  "
                               << fmt::format("{}", fmt::join(found, "\n  "))
                               << "\nas a scenario file:\n"
                               << cases::to_text(each);
  }
}

// Or the tests of growing memory would test nothing.
TEST(RandomCases, RunOutOfMemoryAndRestartEarly) {
  std::uint64_t out_of_memory = 0;
  std::uint64_t early = 0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + 100; ++seed) {
    cases::Draw draw = draw_of("edf-ss", seed);
    draw.memory_grows = true;
    const Result<sim::RunResult> result = cases::run_engine(cases::random_case(draw));
    if (!result.ok()) continue;
    out_of_memory += result->out_of_memory;
    early += result->early_restarts;
  }
  EXPECT_GT(out_of_memory, 200U);
  EXPECT_GT(early, 100U);
}

TEST_P(EveryScheduler, GivesTheSameBytesForTheSameSeed) {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + 10; ++seed) {
    const cases::Case each = cases::random_case(draw_of(GetParam(), seed));
    const Result<sim::RunResult> once = cases::run_engine(each);
    const Result<sim::RunResult> again = cases::run_engine(each);
    ASSERT_TRUE(once.ok() && again.ok());
    EXPECT_EQ(cases::to_text(each, *once), cases::to_text(each, *again)) << "case seed " << seed;
  }
}

TEST_P(EveryScheduler, CountsTheSameWhetherOrNotTheScheduleIsKept) {
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + 10; ++seed) {
    const cases::Case each = cases::random_case(draw_of(GetParam(), seed));
    Result<sim::RunResult> kept = cases::run_engine(each);
    sim::RunOptions options = cases::options_of(each);
    options.keep_jobs = options.keep_schedule = false;
    const Result<sim::RunResult> bare = cases::run_engine(each, options);
    ASSERT_TRUE(kept.ok() && bare.ok());
    EXPECT_TRUE(bare->schedule.empty() && bare->layouts.empty() && bare->job_records.empty());
    kept->schedule.clear();
    kept->layouts.clear();
    kept->job_records.clear();
    EXPECT_EQ(cases::to_text(each, *kept), cases::to_text(each, *bare)) << "case seed " << seed;
  }
}

// A scheduler that scores pairs and waits as it comes: whatever training makes of a network must
// keep the rules.
nn::Model untrained_model() {
  nn::Model model;
  policies::PlaceRules rules;
  rules.gpu = "a100-40gb";
  write_rules(rules, model.facts);
  model.facts.command = model.facts.seed = model.facts.commit = "none";
  model.policy = nn::Network(nn::Shape{{rules.inputs(), 8, 1}, nn::Activation::kTanh});
  Rng rng(7);
  for (float& each : model.policy.parameters()) each = static_cast<float>(rng.normal());
  return model;
}

// Its file, for as long as this process lives: others run the same tests at the same time.
class UntrainedFile {
 public:
  UntrainedFile() {
    std::filesystem::create_directory(folder_);
    CHECK(nn::write_bytes(path(), nn::format_model(untrained_model())).ok());
  }
  ~UntrainedFile() { std::filesystem::remove_all(folder_); }
  UntrainedFile(const UntrainedFile&) = delete;
  UntrainedFile& operator=(const UntrainedFile&) = delete;

  std::string path() const { return folder_ + "/untrained.safetensors"; }

 private:
  std::string folder_ = testing::TempDir() + "property_suite." + std::to_string(getpid());
};

// The seventeen names, every order and placement once in a composition that has no name, and
// learned ones.
std::vector<std::string> schedulers_to_try() {
  static const UntrainedFile untrained;
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  for (const policies::OrderRow& row : policies::orders()) {
    names.push_back(row.facts.name + "+most-packed");
  }
  for (const policies::PlacementRow& row : policies::placements()) {
    if (row.facts.may_wait) continue;  // for layouts made on demand: on_demand_test.cpp
    names.push_back("atc+" + row.facts.name);
  }
  names.push_back("learned:" PARTITA_SOURCE_DIR "/models/place.safetensors");
  names.push_back("learned:" + untrained.path());
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

// What training begins with.
TEST(LearnedScheduler, WithScoresOfNothingIsModifiedDueDateByTheFastestSizeWithTheSlowestSlice) {
  nn::Model model = untrained_model();
  std::ranges::fill(model.policy.parameters(), 0.0F);
  cases::Case each;
  each.scheduler = "mdd-fastest";
  each.preemption.mode = decide::Preemption::Mode::kNone;
  for (const int number : {1, 1, 2, 3, 9}) {
    each.layouts.push_back(*mig::numbered_layout(cases::model_of(each), number));
  }
  each.trace =
      cases::papers_day({.rate = 12, .deadline_low = 2, .deadline_high = 4, .hours = 6}, 3);
  const auto rule = cases::run_engine(each);
  policies::PlaceScheduler scheduler(model, *policies::read_place_rules(model));
  policies::StaticLayouts layouts(each.layouts);
  const auto learned = sim::simulate(each.trace, cases::options_of(each), scheduler, layouts);
  ASSERT_TRUE(rule.ok() && learned.ok());
  EXPECT_GT(rule->late_jobs, 50U);
  for (std::size_t i = 0; i < rule->job_records.size(); ++i) {
    ASSERT_EQ(rule->job_records[i].completion, learned->job_records[i].completion) << "job " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(PropertySuite, EveryScheduler, testing::ValuesIn(schedulers_to_try()),
                         [](const auto& each) {
                           // Of a learned one the name of the file.
                           std::string name = each.param.substr(each.param.rfind('/') + 1);
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '+' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace partita
