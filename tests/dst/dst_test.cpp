// The controller in a simulated world, over many seeds; and the mistakes that must be caught there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "control/planted.h"
#include "dst/world.h"

namespace partita::control {
Planted planted = Planted::k_none;
}  // namespace partita::control

namespace partita::dst {
namespace {

#ifndef PARTITA_DST_SEEDS
#define PARTITA_DST_SEEDS 200
#endif
constexpr int kFailuresTold = 5;

// PARTITA_DST_SEEDS="6128" or "10001-20000" tries others.
std::pair<std::uint64_t, std::uint64_t> seeds() {
  const char* const given = std::getenv("PARTITA_DST_SEEDS");
  if (given == nullptr) return {1, PARTITA_DST_SEEDS};
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(given, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first};
}
constexpr int kSteps = 400;

TEST(Dst, EveryPromiseHoldsOverAllSeeds) {
  std::size_t accepted = 0;
  std::size_t crashes = 0;
  std::size_t preemptions = 0;
  int failures = 0;
  const auto [first, last] = seeds();
  const std::uint64_t count = last - first + 1;
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    accepted += world.accepted();
    crashes += world.crashes();
    preemptions += world.preemptions();
  }
  if (failures > 0 || count < 100) return;  // of so few nothing is certain
  EXPECT_GT(accepted, count * 20);
  EXPECT_GT(crashes, count);
  EXPECT_GT(preemptions, count / 10);
  RecordProperty("accepted", static_cast<int>(accepted));
  RecordProperty("crashes", static_cast<int>(crashes));
}

TEST(Dst, EveryPromiseHoldsUnderForesight) {
  std::uint64_t forecasts = 0;
  int failures = 0;
  const auto [first, last] = seeds();
  const std::uint64_t count = last - first + 1;
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed, Rule::kLookahead);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    forecasts += world.forecasts();
  }
  if (failures > 0 || count < 100) return;
  EXPECT_GT(forecasts, count * 100);
  RecordProperty("forecasts", static_cast<int>(forecasts));
}

TEST(Dst, EveryPromiseHoldsWhereRunningJobsAreMoved) {
  std::map<std::string, std::size_t> seen{
      {"preempted", 0}, {"moved", 0}, {"claims", 0}, {"claim-lost", 0}};
  int failures = 0;
  const auto [first, last] = seeds();
  const std::uint64_t count = last - first + 1;
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed, Rule::kPays);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    for (auto& [kind, sum] : seen) sum += world.count(kind);
  }
  for (const auto& [kind, sum] : seen) RecordProperty(kind, static_cast<int>(sum));
  if (failures > 0 || count < 100) return;
  EXPECT_GT(seen["preempted"], count);
  EXPECT_GT(seen["claims"], count / 2);
  EXPECT_GT(seen["moved"], count / 10);
  EXPECT_GT(seen["claim-lost"], 0U);
}

TEST(Dst, EveryPromiseHoldsWhereUsersShare) {
  int failures = 0;
  std::size_t reserved = 0;
  std::size_t quota_waits = 0;
  std::size_t quota_refusals = 0;
  const auto [first, last] = seeds();
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed, Rule::kShared);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    reserved += world.count("reserved");
    quota_waits += world.quota_waits();
    quota_refusals += world.quota_refusals();
  }
  if (failures > 0 || last - first < 99) return;
  EXPECT_GT(reserved, (last - first) / 10);
  EXPECT_GT(quota_waits, last - first);
  EXPECT_GT(quota_refusals, (last - first) / 10);
}

TEST(Dst, EveryPromiseHoldsOnADiskThatFillsUp) {
  std::size_t accepted = 0;
  std::size_t unwritten = 0;
  std::size_t refused = 0;
  std::map<std::string, std::size_t> seen{{"disk-full", 0}, {"disk-space", 0}, {"postponed", 0}};
  int failures = 0;
  const auto [first, last] = seeds();
  const std::uint64_t count = last - first + 1;
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed, Rule::kFullDisk);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    accepted += world.accepted();
    unwritten += world.turns_unwritten();
    refused += world.refused();
    for (auto& [kind, sum] : seen) sum += world.count(kind);
  }
  RecordProperty("accepted", static_cast<int>(accepted));
  RecordProperty("unwritten", static_cast<int>(unwritten));
  RecordProperty("refused", static_cast<int>(refused));
  for (const auto& [kind, sum] : seen) RecordProperty(kind, static_cast<int>(sum));
  if (failures > 0 || count < 100) return;
  EXPECT_GT(accepted, count * 20);
  EXPECT_GT(unwritten, count * 10);
  EXPECT_GT(refused, count * 5);
  EXPECT_GT(seen["disk-full"], count * 2);
  EXPECT_GT(seen["disk-space"], count * 2);
  EXPECT_GT(seen["postponed"], count / 4);
}

TEST(Dst, EveryPromiseHoldsWhereTheQueueIsSteered) {
  std::map<std::string, std::size_t> seen{{"waits", 0},      {"eligible", 0}, {"held", 0},
                                          {"released", 0},   {"requeued", 0}, {"gpu-drained", 0},
                                          {"gpu-resumed", 0}};
  int failures = 0;
  const auto [first, last] = seeds();
  const std::uint64_t count = last - first + 1;
  for (std::uint64_t seed = first; seed <= last && failures < kFailuresTold; ++seed) {
    World world(seed, Rule::kSteered);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
    if (wrong) ++failures;
    for (auto& [kind, sum] : seen) sum += world.count(kind);
  }
  for (const auto& [kind, sum] : seen) RecordProperty(kind, static_cast<int>(sum));
  if (failures > 0 || count < 100) return;
  for (const auto& [kind, sum] : seen) EXPECT_GT(sum, count / 10) << kind;
}

TEST(Dst, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= PARTITA_DST_SEEDS / 10; ++seed) {
    for (const Rule rule :
         {Rule::kDrawn, Rule::kPays, Rule::kShared, Rule::kFullDisk, Rule::kSteered}) {
      World first(seed, rule);
      World second(seed, rule);
      ASSERT_FALSE(first.run(kSteps));
      ASSERT_FALSE(second.run(kSteps));
      EXPECT_EQ(first.digest(), second.digest()) << "seed " << seed;
    }
  }
}

TEST(Dst, SeedsThatFailedOnceStillPass) {
  std::ifstream in(PARTITA_SOURCE_DIR "/tests/dst/regressions.txt");
  ASSERT_TRUE(in.good());
  std::uint64_t seed = 0;
  while (in >> seed) {
    World world(seed);
    const auto wrong = world.run(kSteps);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

struct Bug {
  const char* name;
  control::Planted planted;
};

constexpr std::array kBugs = std::to_array<Bug>({
#define PARTITA_BUG(name) {#name, control::Planted::k_##name},
    PARTITA_PLANTED(PARTITA_BUG)
#undef PARTITA_BUG
});

class PlantedBug : public testing::TestWithParam<Bug> {};

// In a process of its own, since a CHECK that fails is a catch as well. Status 0: never caught.
int status_with(control::Planted planted, std::uint64_t seeds) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::fclose(stderr);
    control::planted = planted;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      if (World(seed).run(kSteps)) ::_exit(1);
      if (World(seed, Rule::kPays).run(kSteps)) ::_exit(1);
      if (World(seed, Rule::kSteered).run(kSteps)) ::_exit(1);
      if (World(seed, Rule::kFullDisk).run(kSteps)) ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_P(PlantedBug, IsCaught) {
  EXPECT_NE(status_with(GetParam().planted, 200), 0) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Dst, PlantedBug, testing::ValuesIn(kBugs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace partita::dst
