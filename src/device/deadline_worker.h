// DeadlineWorker: runs calls that may hang in a thread of its own, and waits no longer than agreed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace partita::device {

// A call that does not return in time is left behind in its thread, and the worker is suspect:
// calls fail at once until the hung one returns, or until `retry_after`, when a fresh thread tries
// again. At most kLeftBehindMax threads are left behind; then only a return helps.
class DeadlineWorker {
 public:
  static constexpr int kLeftBehindMax = 3;

  DeadlineWorker(std::chrono::milliseconds deadline, std::chrono::milliseconds retry_after);
  // Waits for the thread unless it hangs.
  ~DeadlineWorker();
  DeadlineWorker(const DeadlineWorker&) = delete;
  DeadlineWorker& operator=(const DeadlineWorker&) = delete;

  // True when `work` was done by the deadline. One call at a time; others wait their turn. `work`
  // may run on after false was returned, so it must own all it touches.
  bool run(std::function<void()> work);

  bool suspect() const;

 private:
  struct Lane;
  std::shared_ptr<Lane> lane_;
};

}  // namespace partita::device
