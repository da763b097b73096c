#include "base/clock.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace partita {
namespace {

class RealClock : public Clock {
 public:
  Micros now() override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t read = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
    std::int64_t latest = latest_.load();
    while (read > latest && !latest_.compare_exchange_weak(latest, read)) {
    }
    return {std::max(read, latest)};
  }

  void sleep(Micros span) override {
    std::this_thread::sleep_for(std::chrono::microseconds(span.count));
  }

 private:
  std::atomic<std::int64_t> latest_{0};
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace partita
