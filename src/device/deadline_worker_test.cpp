#include "device/deadline_worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace partita::device {
namespace {

using std::chrono::milliseconds;

// Opened once; whoever waits for it hangs until then.
class Gate {
 public:
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(DeadlineWorker, RunsCallsOneAfterTheOther) {
  DeadlineWorker worker(milliseconds(60'000), milliseconds(0));
  std::atomic<int> inside = 0;
  std::atomic<int> done = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        EXPECT_TRUE(worker.run([&] {
          EXPECT_EQ(++inside, 1);
          ++done;
          --inside;
        }));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 400);
  EXPECT_FALSE(worker.suspect());
}

TEST(DeadlineWorker, AHungCallIsLeftBehindAndMakesItSuspectUntilItReturns) {
  const auto gate = std::make_shared<Gate>();
  DeadlineWorker worker(milliseconds(20), milliseconds(60'000));
  EXPECT_FALSE(worker.run([gate] { gate->wait(); }));
  EXPECT_TRUE(worker.suspect());
  bool ran = false;
  EXPECT_FALSE(worker.run([&] { ran = true; }));
  EXPECT_FALSE(ran);
  gate->open();
  while (worker.suspect()) std::this_thread::sleep_for(milliseconds(1));
  // With time to spare: the machine may be busy.
  for (int i = 0; i < 100 && !ran; ++i) {
    const auto flag = std::make_shared<std::atomic<bool>>(false);
    ran = worker.run([flag] { *flag = true; }) && *flag;
    while (!ran && worker.suspect()) std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(ran);
}

TEST(DeadlineWorker, FreshThreadsTryAgainButNotForEver) {
  const auto gate = std::make_shared<Gate>();
  const auto begun = std::make_shared<std::atomic<int>>(0);
  DeadlineWorker worker(milliseconds(20), milliseconds(0));
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(worker.run([gate, begun] {
      ++*begun;
      gate->wait();
    }));
  }
  EXPECT_LE(*begun, DeadlineWorker::kLeftBehindMax);
  EXPECT_TRUE(worker.suspect());
  gate->open();
}

TEST(DeadlineWorker, EndsWhileACallHangs) {
  const auto gate = std::make_shared<Gate>();
  {
    DeadlineWorker worker(milliseconds(10), milliseconds(60'000));
    EXPECT_FALSE(worker.run([gate] { gate->wait(); }));
  }
  gate->open();
}

}  // namespace
}  // namespace partita::device
