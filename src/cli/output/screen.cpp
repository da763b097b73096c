#include "cli/output/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>

#include "base/text.h"

namespace partita::cli {
namespace {

constexpr std::size_t kPageBlocks = 5;  // what blank and b move by

volatile std::sig_atomic_t g_leave = 0;

void note_leave(int) {
  g_leave = 1;
}

ScreenSize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {size.ws_row, size.ws_col};
}

// The line as far as it fits; escape sequences go on to its end, so that none stays open.
std::string cut_line(std::string_view line, std::size_t columns) {
  std::string cut;
  std::size_t width = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      const std::size_t end = line.find('m', i);
      if (end == std::string_view::npos) break;
      cut += line.substr(i, end + 1 - i);
      i = end;
      continue;
    }
    const bool continues = (static_cast<unsigned char>(line[i]) & 0xC0U) == 0x80U;
    if (!continues) ++width;
    if (width <= columns) cut += line[i];
  }
  return cut;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

std::string fit_page(const ScreenPage& page, ScreenSize size, std::size_t first) {
  std::vector<std::string_view> lines = lines_of(page.head);
  const std::size_t room = size.rows - std::min(size.rows, std::size_t{1});  // one line counts
  std::size_t shown = 0;
  for (std::size_t i = first; i < page.blocks.size(); ++i) {
    const std::vector<std::string_view> block = lines_of(page.blocks[i]);
    // One block shows in any case, as far as it goes.
    if (shown > 0 && lines.size() + 1 + block.size() > room) break;
    lines.emplace_back();
    lines.insert(lines.end(), block.begin(), block.end());
    ++shown;
  }
  if (lines.size() > room) lines.resize(room);
  std::string text;
  for (const std::string_view line : lines) text += cut_line(line, size.columns) + "\n";
  const std::size_t below = page.blocks.size() - std::min(page.blocks.size(), first + shown);
  if (first == 0 && below == 0) return text;
  std::string others;
  if (first > 0) others = fmt::format("{} {} above", first, page.noun);
  if (below > 0) others += fmt::format("{}and {} more {}", first > 0 ? ", " : "", below, page.noun);
  return text + cut_line(others + "; j and k move, q leaves", size.columns);
}

std::vector<ScreenKey> keys_in(const std::string& bytes) {
  struct Row {
    std::string_view bytes;
    ScreenKey key;
  };
  static constexpr std::array kRows = std::to_array<Row>({{"\x1b[A", ScreenKey::kUp},
                                                          {"\x1b[B", ScreenKey::kDown},
                                                          {"\x1b[5~", ScreenKey::kPageUp},
                                                          {"\x1b[6~", ScreenKey::kPageDown},
                                                          {"\x1b[H", ScreenKey::kTop},
                                                          {"\x1b[F", ScreenKey::kEnd},
                                                          {"k", ScreenKey::kUp},
                                                          {"j", ScreenKey::kDown},
                                                          {"b", ScreenKey::kPageUp},
                                                          {" ", ScreenKey::kPageDown},
                                                          {"g", ScreenKey::kTop},
                                                          {"G", ScreenKey::kEnd},
                                                          {"q", ScreenKey::kQuit}});
  std::vector<ScreenKey> keys;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto row =
        std::ranges::find_if(kRows, [&](const Row& each) { return rest.starts_with(each.bytes); });
    if (row != kRows.end()) keys.push_back(row->key);
    rest.remove_prefix(row == kRows.end() ? 1 : row->bytes.size());
  }
  return keys;
}

Screen::Screen(FdWriter& out) : out_(out) {
  g_leave = 0;
  struct sigaction action {};
  action.sa_handler = note_leave;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (!keys_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

Screen::~Screen() {
  if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
}

// False: to leave.
bool Screen::take_keys(const ScreenPage& page) {
  std::array<char, 64> bytes{};
  const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (size < 0) return errno == EINTR;
  if (size == 0) {
    keys_ = false;
    return true;
  }
  const std::size_t last = page.blocks.size() - std::min(page.blocks.size(), std::size_t{1});
  for (const ScreenKey key : keys_in({bytes.data(), static_cast<std::size_t>(size)})) {
    const std::size_t step =
        key == ScreenKey::kPageDown || key == ScreenKey::kPageUp ? kPageBlocks : 1;
    if (key == ScreenKey::kQuit) return false;
    if (key == ScreenKey::kDown || key == ScreenKey::kPageDown) first_ += step;
    if (key == ScreenKey::kUp || key == ScreenKey::kPageUp) first_ -= std::min(first_, step);
    if (key == ScreenKey::kTop) first_ = 0;
    if (key == ScreenKey::kEnd) first_ = last;
    first_ = std::min(first_, last);
  }
  return true;
}

bool Screen::show(const ScreenPage& page, int milliseconds) {
  using Steady = std::chrono::steady_clock;
  const auto until = Steady::now() + std::chrono::milliseconds(milliseconds);
  first_ = std::min(first_, page.blocks.size() - std::min(page.blocks.size(), std::size_t{1}));
  for (;;) {
    out_.write("\x1b[H\x1b[2J" + fit_page(page, size_of_terminal(), first_));
    if (!out_.flush()) return false;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Steady::now()).count();
    if (left <= 0) return g_leave == 0;
    pollfd input{keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(left));
    if (g_leave != 0) return false;
    if (ready > 0 && !take_keys(page)) return false;
  }
}

}  // namespace partita::cli
