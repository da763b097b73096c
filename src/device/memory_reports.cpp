#include "device/memory_reports.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <string>

#include "base/text.h"
#include "base/whole_file.h"

namespace partita::device {
namespace {

constexpr double kClockSlackSeconds = 2;  // btime of /proc/stat is in whole seconds

std::string whole_file(const std::filesystem::path& path) {
  Result<std::string> text = read_whole_file(path.string());
  return text ? *std::move(text) : std::string();
}

// Seconds since 1970 at which the machine was started.
double boot_seconds() {
  static const double seconds = [] {
    const std::string stat = whole_file("/proc/stat");
    for (const std::string_view line : split(stat, '\n')) {
      if (line.starts_with("btime ")) return parse_double(line.substr(6)).value_or(0);
    }
    return 0.0;
  }();
  return seconds;
}

// When the process began, in seconds since 1970; nothing when it is gone or only a zombie.
std::optional<double> beginning(int pid) {
  const std::string stat = whole_file(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = stat.rfind(')');  // the name may hold blanks and brackets itself
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return {};
  const auto fields = split(std::string_view(stat).substr(name_end + 2), ' ');
  constexpr std::size_t kState = 0;
  constexpr std::size_t kStartTicks = 19;  // field 22 of proc(5), counted after the name
  if (fields.size() <= kStartTicks) return {};
  if (fields[kState] == "Z" || fields[kState] == "X") return {};
  const std::optional<double> ticks = parse_double(fields[kStartTicks]);
  if (!ticks) return {};
  return boot_seconds() + *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<ProcessUse> parse_memory_report(std::string_view text) {
  std::map<int, std::int64_t> used_mib;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(trim(line), ' ');
    if (words.size() != 2) continue;
    const std::optional<std::int64_t> pid = parse_int(words[0]);
    const std::optional<std::int64_t> mib = parse_int(words[1]);
    if (!pid || !mib || *pid <= 0 || *pid > std::numeric_limits<int>::max() || *mib < 0) continue;
    used_mib[static_cast<int>(*pid)] = *mib;
  }
  std::vector<ProcessUse> processes;
  for (const auto& [pid, mib] : used_mib) processes.push_back({pid, mib});
  return processes;
}

std::vector<ProcessUse> read_memory_report(const std::filesystem::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const double written =
      static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) / 1e9;
  std::vector<ProcessUse> processes = parse_memory_report(whole_file(path));
  std::erase_if(processes, [&](const ProcessUse& process) {
    const std::optional<double> began = beginning(process.pid);
    return !began || *began > written + kClockSlackSeconds;
  });
  return processes;
}

}  // namespace partita::device
