#include "device/deadline_worker.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace partita::device {

using SteadyClock = std::chrono::steady_clock;

// Shared with the threads, so that one that is left behind outlives the worker.
struct DeadlineWorker::Lane {
  // One piece of work on its way through a thread.
  struct Call {
    std::function<void()> work;
    bool done = false;
  };

  Lane(std::chrono::milliseconds a, std::chrono::milliseconds b) : deadline(a), retry_after(b) {}

  const std::chrono::milliseconds deadline;
  const std::chrono::milliseconds retry_after;
  std::mutex turn;  // held by whoever runs a call
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Call> waiting;  // for the thread to take
  int generation = 0;             // of the thread in charge; older ones end when they return
  int left_behind = 0;
  bool closing = false;
  SteadyClock::time_point hung_since;
  std::thread thread;

  bool may_retry() const {
    return left_behind < kLeftBehindMax && SteadyClock::now() - hung_since >= retry_after;
  }

  static void serve(const std::shared_ptr<Lane>& lane, int own) {
    std::unique_lock lock(lane->mutex);
    while (true) {
      lane->changed.wait(lock, [&] {
        return lane->generation != own || lane->closing || lane->waiting != nullptr;
      });
      if (lane->generation != own) --lane->left_behind;
      if (lane->generation != own || lane->closing) return;
      const std::shared_ptr<Call> call = std::exchange(lane->waiting, nullptr);
      lock.unlock();
      call->work();
      call->work = nullptr;  // frees what it holds while the lane is unlocked
      lock.lock();
      call->done = true;
      lane->changed.notify_all();
      if (lane->generation == own) continue;
      --lane->left_behind;
      return;
    }
  }
};

DeadlineWorker::DeadlineWorker(std::chrono::milliseconds deadline,
                               std::chrono::milliseconds retry_after)
    : lane_(std::make_shared<Lane>(deadline, retry_after)) {}

DeadlineWorker::~DeadlineWorker() {
  {
    const std::scoped_lock lock(lane_->mutex);
    lane_->closing = true;
  }
  lane_->changed.notify_all();
  if (lane_->thread.joinable()) lane_->thread.join();
}

bool DeadlineWorker::run(std::function<void()> work) {
  const std::shared_ptr<Lane> lane = lane_;
  const std::scoped_lock in_turn(lane->turn);
  std::unique_lock lock(lane->mutex);
  if (lane->left_behind > 0 && !lane->may_retry()) return false;
  if (!lane->thread.joinable()) {
    lane->thread = std::thread(&Lane::serve, lane, lane->generation);
  }
  const auto call = std::make_shared<Lane::Call>();
  call->work = std::move(work);
  lane->waiting = call;
  lane->changed.notify_all();
  if (lane->changed.wait_for(lock, lane->deadline, [&] { return call->done; })) return true;
  ++lane->generation;  // whoever works on it now is no longer in charge
  ++lane->left_behind;
  lane->hung_since = SteadyClock::now();
  lane->waiting = nullptr;
  lane->thread.detach();
  return false;
}

bool DeadlineWorker::suspect() const {
  const std::scoped_lock lock(lane_->mutex);
  return lane_->left_behind > 0;
}

}  // namespace partita::device
