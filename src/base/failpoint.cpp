#include "base/failpoint.h"

#include <csignal>
#include <string>
#include <vector>

#include "base/text.h"

namespace partita {
namespace failpoint_detail {

std::atomic<int> armed{kNone};

namespace {
std::atomic<std::int64_t> passes_left{0};
}  // namespace

void reached(Failpoint) {
  // As abrupt as a crash can be: nothing is flushed and nobody is told.
  if (passes_left.fetch_sub(1) == 1) ::raise(SIGKILL);
}

}  // namespace failpoint_detail

Status arm_failpoint(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::int64_t passes = 1;
  if (colon != std::string_view::npos) {
    const auto parsed = parse_int(text.substr(colon + 1));
    if (!parsed || *parsed < 1) return Error{"a failpoint is NAME or NAME:TIMES, TIMES from 1"};
    passes = *parsed;
  }
  std::vector<std::string> known;
  int index = 0;
  for (const std::string_view each : kFailpointNames) {
    if (each == name) {
      failpoint_detail::passes_left = passes;
      failpoint_detail::armed = index;
      return {};
    }
    known.emplace_back(each);
    ++index;
  }
  return unknown_name("failpoint", name, known);
}

}  // namespace partita
