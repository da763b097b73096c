#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "base/rng.h"
#include "device/layouts/layout_apply.h"
#include "device/layouts/layout_plan.h"
#include "device/simulated/faulty.h"
#include "device/simulated/simulated.h"
#include "mig/enumerate.h"

namespace partita::device {
namespace {

namespace fs = std::filesystem;
using End = ApplyResult::End;

const mig::GpuModel& a100() {
  return **mig::find_gpu("a100-40gb");
}

mig::Layout layout(std::string_view text) {
  return *mig::parse_layout(a100(), text);
}

GpuSituation situation(const mig::GpuModel& model, const mig::Layout& present,
                       std::uint8_t busy_starts) {
  GpuSituation from;
  from.gpu.id = {0};
  from.gpu.uuid = "GPU-1";
  from.gpu.mode = MigMode::kEnabled;
  from.gpu.model = std::shared_ptr<const mig::GpuModel>(&model, [](auto*) {});
  std::uint32_t gi = 1;
  for (const mig::Placement placement : present.instances()) {
    Occupied slice;
    slice.instance.key = {{0}, gi, "MIG-" + std::to_string(gi)};
    slice.instance.placement = placement;
    if (((busy_starts >> placement.start) & 1) != 0) slice.processes = {{900, 10}};
    from.slices.push_back(slice);
    ++gi;
  }
  return from;
}

std::vector<mig::ProfileIndex> mix_of(const mig::Layout& of) {
  std::vector<mig::ProfileIndex> mix;
  for (const mig::Placement placement : of.instances()) mix.push_back(placement.profile);
  std::ranges::sort(mix);
  return mix;
}

// By brute force: over every legal layout with this mix, the fewest steps that cost nothing busy.
std::optional<std::size_t> fewest_steps(const std::vector<mig::Layout>& legal,
                                        const GpuSituation& from, const mig::Layout& present,
                                        const std::vector<mig::ProfileIndex>& mix) {
  std::optional<std::size_t> fewest;
  for (const mig::Layout& candidate : legal) {
    if (mix_of(candidate) != mix) continue;
    std::size_t steps = 0;
    bool allowed = true;
    for (const Occupied& slice : from.slices) {
      if (candidate.contains(slice.instance.placement)) continue;
      ++steps;
      allowed = allowed && !slice.busy();
    }
    for (const mig::Placement placement : candidate.instances()) {
      steps += present.contains(placement) ? 0 : 1;
    }
    if (allowed && (!fewest || steps < *fewest)) fewest = steps;
  }
  return fewest;
}

class PlanOnPart : public testing::TestWithParam<const char*> {};

TEST_P(PlanOnPart, TakesTheFewestStepsAndTouchesNothingBusy) {
  const mig::GpuModel& model = **mig::find_gpu(GetParam());
  const std::vector<mig::Layout> legal = mig::legal_layouts(model, {true, true});
  Rng rng(11);
  int blocked = 0;
  int possible = 0;
  for (int i = 0; i < 400; ++i) {
    const mig::Layout& present = legal[rng.below(legal.size())];
    const auto busy = static_cast<std::uint8_t>(rng.next() & rng.next());
    const GpuSituation from = situation(model, present, busy);
    const auto mix = mix_of(legal[rng.below(legal.size())]);
    const Result<GpuPlan> plan = plan_gpu(from, {true, mix, {}});
    ASSERT_TRUE(plan.ok());
    const auto fewest = fewest_steps(legal, from, present, mix);
    ASSERT_EQ(plan->possible(), fewest.has_value());
    if (!fewest) {
      ++blocked;
      for (const Occupied& slice : plan->blocked_by) EXPECT_TRUE(slice.busy());
      EXPECT_NE(blocked_sentence(*plan).find("process 900"), std::string::npos);
      continue;
    }
    ++possible;
    EXPECT_EQ(plan->steps.size(), *fewest);
    mig::Layout now = present;
    for (const PlanStep& step : plan->steps) {
      if (step.kind == PlanStep::Kind::kDestroy) {
        EXPECT_EQ((busy >> step.placement.start) & 1, 0);
        now.remove(step.placement);
      } else {
        ASSERT_TRUE(mig::fits(model, now, step.placement));
        now.add(step.placement);
      }
    }
    EXPECT_EQ(now, plan->target);
    EXPECT_EQ(mix_of(now), mix);
  }
  EXPECT_GT(blocked, 20);
  EXPECT_GT(possible, 20);
}

INSTANTIATE_TEST_SUITE_P(Parts, PlanOnPart, testing::Values("a30-24gb", "a100-40gb"),
                         [](const auto& info) { return std::string(info.param, 3); });

TEST(LayoutPlan, AMixThatFitsNowhereIsAnErrorWithItsName) {
  const auto plan = plan_gpu(situation(a100(), {}, 0), {true, mix_of(layout("7g.40gb:0")), {}});
  ASSERT_TRUE(plan.ok());
  const auto impossible = plan_gpu(situation(a100(), {}, 0), {true, {6, 0}, {}});
  ASSERT_FALSE(impossible.ok());
  EXPECT_NE(impossible.error().message.find("7g.40gb + 1g.5gb"), std::string::npos);
}

TEST(LayoutPlan, OrphansGoEvenWhereASliceIsWanted) {
  GpuSituation from = situation(a100(), layout("1g.5gb:0,1g.5gb:1"), 0);
  from.slices[0].instance.compute_instances = 0;
  from.slices[0].instance.key.uuid.clear();
  const auto plan = plan_gpu(from, {true, {0, 0}, {}});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->steps.size(), 2U);
  EXPECT_EQ(plan->steps[0].kind, PlanStep::Kind::kDestroy);
  EXPECT_EQ(plan->steps[0].key.uuid, "");
  EXPECT_EQ(plan->steps[1].kind, PlanStep::Kind::kCreate);
}

TEST(LayoutPlan, TheModeChangesFirstOrLast) {
  GpuSituation from = situation(a100(), {}, 0);
  from.gpu.mode = MigMode::kDisabled;
  auto plan = plan_gpu(from, {true, {0}, {}});
  ASSERT_EQ(plan->steps.size(), 2U);
  EXPECT_EQ(plan->steps[0].kind, PlanStep::Kind::kEnableMig);
  plan = plan_gpu(situation(a100(), layout("1g.5gb:0"), 0), {false, {}, {}});
  ASSERT_EQ(plan->steps.size(), 2U);
  EXPECT_EQ(plan->steps[1].kind, PlanStep::Kind::kDisableMig);
  plan = plan_gpu(situation(a100(), layout("1g.5gb:0"), 1), {false, {}, {}});
  EXPECT_FALSE(plan->possible());
  EXPECT_NE(blocked_sentence(*plan).find("MIG off"), std::string::npos);
}

// ---- applying

class Apply : public testing::Test {
 protected:
  Apply() {
    std::string name = (fs::temp_directory_path() / "partita-apply-test-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Apply() override { fs::remove_all(folder_); }

  std::unique_ptr<SimulatedBackend> simulated(Clock& clock) {
    const std::string spec = "2xa100-40gb,state=" + (folder_ / "gpus.json").string();
    auto opened = SimulatedBackend::open(*parse_simulated(spec), clock);
    CHECK(opened.ok());
    return std::move(*opened);
  }
  fs::path journal() const { return folder_ / "journal.json"; }

  static std::vector<GpuPlan> plans(Backend& backend, const char* first, const char* second) {
    const auto now = read_situation(backend);
    CHECK(now.ok());
    return {*plan_gpu((*now)[0], {true, {}, layout(first)}),
            *plan_gpu((*now)[1], {true, {}, layout(second)})};
  }
  static ApplyResult apply(Backend& backend, const char* first, const char* second,
                           const fs::path& journal) {
    return apply_layouts(backend, plans(backend, first, second), "test", journal, quiet());
  }
  static StepListener quiet() {
    return [](const GpuPlan&, const PlanStep&, bool) {};
  }
  static std::pair<mig::Layout, mig::Layout> present(Backend& backend) {
    return {layout_of(*backend.instances({0})), layout_of(*backend.instances({1}))};
  }

  fs::path folder_;
};

constexpr const char* kBefore = "3g.20gb:0,3g.20gb:4";
constexpr const char* kAfter = "2g.10gb:0,1g.5gb:2,1g.5gb:3,3g.20gb:4";
constexpr const char* kSecondAfter = "7g.40gb:0";

TEST_F(Apply, MakesTheLayoutKeepsWhatStaysAndLeavesNoJournal) {
  ManualClock clock;
  const auto backend = simulated(clock);
  ASSERT_EQ(apply(*backend, kBefore, "empty", journal()).end, End::kDone);
  const auto before = *backend->instances({0});
  const ApplyResult result = apply(*backend, kAfter, kSecondAfter, journal());
  EXPECT_EQ(result.end, End::kDone);
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(present(*backend), std::pair(layout(kAfter), layout(kSecondAfter)));
  EXPECT_EQ(backend->instances({0})->back(), before.back());
  EXPECT_FALSE(fs::exists(journal()));
  EXPECT_EQ(apply(*backend, kAfter, kSecondAfter, journal()).steps, 0);
}

TEST_F(Apply, AnyFailingStepIsTakenBackWhole) {
  int taken_back = 0;
  for (const char* fault : {"F1", "F2", "F2,orphan", "F3", "F4", "F5", "F14"}) {
    for (int after = 0; after < 6; ++after) {
      fs::remove(folder_ / "gpus.json");
      ManualClock clock;
      FaultyBackend backend(simulated(clock), {}, clock);
      ASSERT_EQ(apply(backend, kBefore, "empty", journal()).end, End::kDone);
      const std::vector<GpuPlan> change = plans(backend, kAfter, kSecondAfter);
      auto rules = parse_fault_rules(fault);
      rules->front().after = after;
      backend.add(rules->front());
      const ApplyResult result = apply_layouts(backend, change, "test", journal(), quiet());
      const auto now = present(backend);
      if (result.end == End::kDone) {
        EXPECT_EQ(now, std::pair(layout(kAfter), layout(kSecondAfter)));
      } else {
        EXPECT_EQ(result.end, End::kTakenBack) << fault << " after " << after << result.failure;
        EXPECT_EQ(now, std::pair(layout(kBefore), layout("empty")));
        EXPECT_FALSE(result.failure.empty());
        ++taken_back;
      }
      EXPECT_FALSE(fs::exists(journal()));
    }
  }
  EXPECT_GT(taken_back, 20);
}

TEST_F(Apply, WhatCannotBeTakenBackNowIsStuckAndFinishedLater) {
  ManualClock clock;
  FaultyBackend backend(simulated(clock), {}, clock);
  ASSERT_EQ(apply(backend, kBefore, "empty", journal()).end, End::kDone);
  const std::vector<GpuPlan> change = plans(backend, kAfter, kSecondAfter);
  backend.add(parse_fault_rules("F1,after=1,times=2")->front());
  const ApplyResult result = apply_layouts(backend, change, "test", journal(), quiet());
  ASSERT_EQ(result.end, End::kStuck);
  EXPECT_NE(result.failure.find("taking it back failed"), std::string::npos);
  const auto left = *read_journal(journal());
  ASSERT_TRUE(left.has_value());
  EXPECT_TRUE(left->taking_back);
  EXPECT_EQ(left->label, "test");
  EXPECT_EQ(resume_layouts(backend, *left, journal(), false, quiet()).end, End::kDone);
  EXPECT_EQ(present(backend), std::pair(layout(kBefore), layout("empty")));
  EXPECT_FALSE(fs::exists(journal()));
}

// Kills the process at its n-th wait, which is in the midst of making or destroying a slice.
class DeadlyClock : public ManualClock {
 public:
  explicit DeadlyClock(int waits) : left_(waits) {}
  void sleep(Micros span) override {
    if (left_-- == 0) ::raise(SIGKILL);
    ManualClock::sleep(span);
  }

 private:
  int left_;
};

TEST_F(Apply, AfterAKillAnywhereTheChangeIsFinishedOrTakenBack) {
  int killed = 0;
  for (const bool back : {false, true}) {
    for (int waits = 0; waits < 6; ++waits) {
      fs::remove(folder_ / "gpus.json");
      ManualClock clock;
      ASSERT_EQ(apply(*simulated(clock), kBefore, "empty", journal()).end, End::kDone);
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        DeadlyClock deadly(waits);
        apply(*simulated(deadly), kAfter, kSecondAfter, journal());
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      const auto backend = simulated(clock);
      const auto left = *read_journal(journal());
      ASSERT_EQ(left.has_value(), WIFSIGNALED(status));
      if (!left) continue;
      ++killed;
      EXPECT_EQ(resume_layouts(*backend, *left, journal(), back, quiet()).end, End::kDone);
      const auto wanted = back ? std::pair(layout(kBefore), layout("empty"))
                               : std::pair(layout(kAfter), layout(kSecondAfter));
      EXPECT_EQ(present(*backend), wanted);
      EXPECT_FALSE(fs::exists(journal()));
    }
  }
  EXPECT_EQ(killed, 10);
}

TEST_F(Apply, ADamagedJournalIsRefusedByName) {
  EXPECT_FALSE(read_journal(journal())->has_value());
  for (const char* text : {"", "{", "{\"format\":\"x\"}", "[]",
                           "{\"format\":\"partita-layout-journal-1\",\"gpus\":3}"}) {
    std::ofstream(journal()) << text;
    const auto read = read_journal(journal());
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find(journal().string()), std::string::npos);
  }
  const Journal whole{"a \"label\"", true, {{"GPU-1", true, "empty", false, "1g.5gb:0"}}};
  ASSERT_TRUE(write_journal(journal(), whole).ok());
  EXPECT_EQ(**read_journal(journal()), whole);
}

}  // namespace
}  // namespace partita::device
