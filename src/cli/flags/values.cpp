#include "cli/flags/values.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/parallel.h"

namespace partita::cli {
namespace {

const FlagRecord& must_find(std::string_view name) {
  const FlagRecord* flag = find_flag(name);
  CHECK(flag != nullptr);
  return *flag;
}

// Each parsed once for the whole program.
const ParsedValue& default_of(std::string_view name) {
  static const std::map<std::string_view, ParsedValue> kDefaults = [] {
    std::map<std::string_view, ParsedValue> all;
    for (const FlagRecord& flag : flag_records()) {
      if (flag.default_text.empty()) continue;
      all.emplace(flag.name, *parse_value(flag, flag.default_text));
    }
    return all;
  }();
  const auto found = kDefaults.find(name);
  CHECK(found != kDefaults.end());
  return found->second;
}

}  // namespace

Status Values::set(const FlagRecord& flag, Value value) {
  Result<ParsedValue> parsed = parse_value(flag, value.text);
  if (!parsed) return Error{fmt::format("{}: {}", value.place, parsed.error().message)};
  value.parsed = *std::move(parsed);
  const auto present = values_.find(flag.name);
  if (present != values_.end() && present->second.typed && !value.typed) return {};
  values_.insert_or_assign(std::string(flag.name), std::move(value));
  return {};
}

const Value* Values::given(std::string_view name) const {
  must_find(name);
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Values::is_set(std::string_view name) const {
  return given(name) != nullptr || !must_find(name).default_text.empty();
}

bool Values::has_switch(std::string_view name) const {
  CHECK(must_find(name).is_switch());
  return given(name) != nullptr && as<bool>(name);
}

std::string Values::text(std::string_view name) const {
  CHECK(is_set(name));
  const Value* value = given(name);
  return value != nullptr ? value->text : std::string(must_find(name).default_text);
}

const ParsedValue& Values::parsed(std::string_view name) const {
  const Value* value = given(name);
  return value != nullptr ? value->parsed : default_of(name);
}

std::string Values::place(std::string_view name) const {
  const Value* value = given(name);
  return value != nullptr ? value->place : shown_name(must_find(name));
}

std::size_t Values::threads() const {
  return given("threads") == nullptr ? default_threads() : count("threads");
}

Error Values::wrong(std::string_view name, const Error& why) const {
  return {fmt::format("{}: {}", place(name), why.message)};
}

}  // namespace partita::cli
