// The daemon is killed: at every named place, and at random under load. Nothing is lost, nothing
// runs twice, no slice leaks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/failpoint.h"
#include "base/rng.h"
#include "live/daemon_process.h"
#include "live/life.h"
#include "store/test_support.h"

namespace partita::live_test {
namespace {

#ifndef PARTITA_KILLS_PER_PLACE
#define PARTITA_KILLS_PER_PLACE 1
#endif
#ifndef PARTITA_RANDOM_KILLS
#define PARTITA_RANDOM_KILLS 6
#endif

constexpr const char* kBackend = "simulated:2xa100-40gb,change-time=0.1";
const std::vector<std::string> kQuick{"--watch", "0.05"};
constexpr double kPatience = 60;

std::optional<double> some_memory(Rng& rng) {
  static constexpr double kSizes[] = {2, 8, 15, 30};
  return kSizes[rng.below(4)];
}

// Whatever killed the daemon, what it decided can be replayed from what it left.
void expect_same_in_replay(const DaemonProcess& daemon) {
  const std::string printed = daemon.folder() + "/replayed";
  const std::vector<std::string> words{program(), "replay", "--state", daemon.folder() + "/state",
                                       "--last",  "3"};
  EXPECT_EQ(run_to_end(words, printed), 0);
}

class Place : public testing::TestWithParam<std::string> {};

// Before the place is armed there are jobs already, one of them running; it is then reached while
// more come, are cancelled, end and need other slices.
void kill_once(const std::string& place, int time) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), kBackend);
  Life life(daemon);
  Rng rng(static_cast<std::uint64_t>(time) * 1000 + place.size());
  const bool of_supervisor = place.starts_with("supervisor_");
  if (place != "store_migrating") {
    ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
    life.submit("long", 6, 2);
    for (int i = 0; i < 4; ++i) life.submit(fmt::format("early-{}", i), 0.3, some_memory(rng));
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + 50 * (time % 4)));
    daemon.kill_now();
  }
  const std::string name = of_supervisor ? "PARTITA_SUPERVISOR_FAILPOINT" : "PARTITA_FAILPOINT";
  const int count = of_supervisor ? 1 : 1 + time % 3;
  daemon.start(kQuick, {fmt::format("{}={}:{}", name, place, count)});
  for (int i = 0; i < 12 && !daemon.has_ended(); ++i) {
    life.submit(fmt::format("late-{}", i), 0.05, some_memory(rng));
    if (i % 4 == 3) life.cancel_some();
    if (i == 5) life.cancel("long");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  if (of_supervisor) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    daemon.kill_now();
  } else if (count == 1) {
    ASSERT_TRUE(daemon.ends_within(30)) << place << " was never reached\n" << daemon.said();
  } else {
    daemon.ends_within(1);
    daemon.kill_now();
  }
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  life.submit_unanswered_again();
  life.cancel("long");
  auto wrong = life.settle(kPatience);
  if (!wrong) wrong = life.check(of_supervisor);
  EXPECT_FALSE(wrong) << place << " " << time << ": " << *wrong << "\n" << daemon.said();
  EXPECT_TRUE(life.accepted() >= 1 || place == "store_migrating");  // that is before any job
  daemon.stop();
  expect_same_in_replay(daemon);
}

TEST_P(Place, KilledThereNothingIsLostDoubledOrLeaked) {
  for (int time = 0; time < PARTITA_KILLS_PER_PLACE && !HasFailure(); ++time) {
    kill_once(GetParam(), time);
  }
}

std::vector<std::string> all_places() {
  return {std::begin(kFailpointNames), std::end(kFailpointNames)};
}

INSTANTIATE_TEST_SUITE_P(Crash, Place, testing::ValuesIn(all_places()),
                         [](const auto& info) { return info.param; });

TEST(Crash, ThereAreAtLeastFortyPlaces) {
  EXPECT_GE(std::size(kFailpointNames), 40U);
}

TEST(Crash, KilledAtRandomUnderLoadNothingIsLostDoubledOrLeaked) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), kBackend);
  Life life(daemon);
  Rng rng(7);
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  for (int kill = 0; kill < PARTITA_RANDOM_KILLS; ++kill) {
    std::vector<std::thread> clients;
    for (int client = 0; client < 32; ++client) {
      const std::uint64_t seed = static_cast<std::uint64_t>(kill) * 100 + client;
      clients.emplace_back([&life, seed, kill, client] {
        Rng own(seed);
        // Mostly small ones, so that thousands of jobs end in minutes.
        const auto memory = own.below(5) == 0 ? some_memory(own) : 2.0;
        life.submit(fmt::format("{}-{}", kill, client), own.uniform(0, 0.03), memory);
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(400'000)));
    daemon.kill_now();
    for (std::thread& client : clients) client.join();
    ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
    life.submit_unanswered_again();
  }
  auto wrong = life.settle(kPatience * (10 + PARTITA_RANDOM_KILLS));
  if (!wrong) wrong = life.check(false);
  EXPECT_FALSE(wrong) << *wrong;
  RecordProperty("accepted", static_cast<int>(life.accepted()));
  daemon.stop();
  expect_same_in_replay(daemon);
}

}  // namespace
}  // namespace partita::live_test
