#include "cli/output/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output/fd_writer.h"

namespace partita::cli {
namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr int kCells = 30;

void to_terminal(const std::string& text) {
  FdWriter err(STDERR_FILENO, "standard error");
  err.write(text);
  err.flush();
}

}  // namespace

std::string progress_line(std::string_view what, double part, double seconds) {
  if (!(part > 0)) return fmt::format("{}: {:.0f} s", what, seconds);
  part = std::min(part, 1.0);
  const int filled = static_cast<int>(part * kCells);
  const double left = seconds / part * (1 - part);
  return fmt::format("{} {:3.0f} % [{:#<{}}{:.<{}}] {:.0f} s left", what, part * 100, "", filled,
                     "", kCells - filled, left);
}

ProgressBar::ProgressBar(bool shown, std::string what) : shown_(shown), what_(std::move(what)) {}

ProgressBar::~ProgressBar() {
  if (on_screen_) to_terminal("\r\x1b[K");
}

void ProgressBar::at(double part) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now - begin_ < kPatience || (on_screen_ && now - drawn_ < kBetweenDraws)) return;
  drawn_ = now;
  draw(part, std::chrono::duration<double>(now - begin_).count());
}

void ProgressBar::draw(double part, double seconds) {
  on_screen_ = true;
  to_terminal(fmt::format("\r{}\x1b[K", progress_line(what_, part, seconds)));
}

}  // namespace partita::cli
