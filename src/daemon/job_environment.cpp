#include "daemon/job_environment.h"

#include <pwd.h>

#include <algorithm>
#include <ranges>
#include <set>

namespace partita::daemon {
namespace {

void add(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  const std::string front = name + "=";
  const bool there = std::ranges::any_of(
      environment, [&](const std::string& entry) { return entry.starts_with(front); });
  if (!there) environment.push_back(front + value);
}

// What is given twice counts as it was given last, as in a shell; the program sees it once.
void keep_last(std::vector<std::string>& environment) {
  std::set<std::string> names;
  std::vector<std::string> kept;
  for (std::string& entry : environment | std::views::reverse) {
    if (names.insert(entry.substr(0, entry.find('='))).second) kept.push_back(std::move(entry));
  }
  std::ranges::reverse(kept);
  environment = std::move(kept);
}

}  // namespace

std::vector<std::string> job_environment(std::vector<std::string> given, std::uint32_t uid,
                                         const std::vector<device::EnvironmentVariable>& device) {
  keep_last(given);
  const passwd* user = ::getpwuid(uid);
  add(given, "PATH", "/usr/local/bin:/usr/bin:/bin");
  add(given, "LANG", "C.UTF-8");
  if (user != nullptr) {
    add(given, "HOME", user->pw_dir);
    add(given, "USER", user->pw_name);
    add(given, "LOGNAME", user->pw_name);
    add(given, "SHELL", user->pw_shell);
  }
  for (const device::EnvironmentVariable& each : device) add(given, each.name, each.value);
  return given;
}

}  // namespace partita::daemon
