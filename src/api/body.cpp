#include "api/body.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace partita::api {
namespace {

using AnyJson = nlohmann::json;

// Counts brackets, names and values outside of strings; says nothing of whether it is JSON. The
// number of names.
Result<std::size_t> check_size(std::string_view text) {
  std::size_t depth = 0;
  std::size_t names = 0;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    quoted = c == '"';
    if ((c == '[' || c == '{') && ++depth > kBodyDepthMax) {
      return Error{
          fmt::format("the body has brackets within brackets, more than {} deep", kBodyDepthMax)};
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ':' && ++names > kBodyNamesMax) {
      return Error{fmt::format("the body has more than {} names of fields", kBodyNamesMax)};
    }
    if (c == ',' && ++values > kBodyValuesMax) {
      return Error{fmt::format("the body has more than {} values", kBodyValuesMax)};
    }
  }
  return names;
}

std::size_t names_in(const AnyJson& json) {
  if (!json.is_structured()) return 0;
  std::size_t names = json.is_object() ? json.size() : 0;
  for (const AnyJson& each : json) names += names_in(each);
  return names;
}

// A name that an object of the text has twice. REQUIRES: the text is JSON, and there is one.
std::string twice_in(std::string_view text) {
  std::vector<std::set<std::string>> names(kBodyDepthMax + 1);
  std::string twice;
  const auto look = [&](int depth, AnyJson::parse_event_t event, AnyJson& json) {
    auto& here = names[static_cast<std::size_t>(depth)];
    // A name has the depth of what is inside its object, the bracket that of what is around it.
    if (event == AnyJson::parse_event_t::object_start) {
      names[static_cast<std::size_t>(depth) + 1].clear();
    }
    if (event != AnyJson::parse_event_t::key) return true;
    const auto& name = json.get_ref<const std::string&>();
    if (!here.insert(name).second && twice.empty()) twice = name;
    return true;
  };
  [[maybe_unused]] const AnyJson json = AnyJson::parse(text, look, false);
  return twice;
}

}  // namespace

// Of two members of one name the later would silently count. Their names are told apart only where
// fewer came out than went in: that costs as much as the rest.
Result<AnyJson> parse_body(std::string_view text) {
  const Result<std::size_t> names = check_size(text);
  if (!names) return names.error();
  AnyJson json = AnyJson::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"the body is no JSON object"};
  if (names_in(json) == *names) return json;
  return Error{fmt::format("the field {} is given twice",
                           AnyJson(twice_in(text).substr(0, 64))
                               .dump(-1, ' ', true, AnyJson::error_handler_t::replace))};
}

}  // namespace partita::api
