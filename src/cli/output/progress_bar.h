// ProgressBar: how much is done and how long the rest takes, on stderr, for anything over two
// seconds.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace partita::cli {

// Safe to use from several threads.
class ProgressBar {
 public:
  // Says nothing at all unless `shown`.
  ProgressBar(bool shown, std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Done so far, 0 to 1; negative when nobody knows.
  void at(double part);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(double part, double seconds);

  bool shown_;
  std::string what_;
  std::mutex mutex_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = begin_;
  bool on_screen_ = false;
};

// "42 % [########............] 3 s left"; without a part only the seconds so far.
std::string progress_line(std::string_view what, double part, double seconds);

}  // namespace partita::cli
