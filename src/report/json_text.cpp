#include "report/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace partita::report {
namespace {

// Brackets inside strings do not count. Of text that is no JSON it says something, and the parser
// refuses it.
int nesting_of(std::string_view text) {
  int depth = 0;
  int most = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

}  // namespace

Result<nlohmann::ordered_json> parse_json(std::string_view text) {
  if (nesting_of(text) > kNestingMax) {
    return Error{fmt::format("found lists inside lists deeper than {}", kNestingMax)};
  }
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Error{"found something else, wanted JSON"};
  return json;
}

}  // namespace partita::report
