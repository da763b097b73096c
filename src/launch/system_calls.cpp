#include "launch/system_calls.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace partita::launch {

Error failed(const std::string& path) {
  return {fmt::format("{}: {}", path, std::strerror(errno))};
}

std::vector<char*> pointers(const std::vector<std::string>& list) {
  std::vector<char*> array;
  for (const std::string& each : list) array.push_back(const_cast<char*>(each.c_str()));
  array.push_back(nullptr);
  return array;
}

}  // namespace partita::launch
