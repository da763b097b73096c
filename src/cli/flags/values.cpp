#include "cli/flags/values.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"

namespace partita::cli {
namespace {

const FlagRecord& must_find(std::string_view name) {
  const FlagRecord* flag = find_flag(name);
  CHECK(flag != nullptr);
  return *flag;
}

}  // namespace

Status Values::set(const FlagRecord& flag, Value value) {
  const Status good = check_value(flag, value.text);
  if (!good) return Error{fmt::format("{}: {}", value.place, good.error().message)};
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
  const Value* value = given(name);
  return value != nullptr && value->text == "true";
}

std::string Values::text(std::string_view name) const {
  CHECK(is_set(name));
  const Value* value = given(name);
  return value != nullptr ? value->text : std::string(must_find(name).default_text);
}

double Values::number(std::string_view name) const {
  CHECK(must_find(name).kind == ValueKind::kNumber);
  const auto number = parse_double(text(name));
  CHECK(number.has_value());
  return *number;
}

std::uint64_t Values::count(std::string_view name) const {
  CHECK(must_find(name).kind == ValueKind::kCount);
  const auto count = parse_int(text(name));
  CHECK(count.has_value() && *count >= 0);
  return static_cast<std::uint64_t>(*count);
}

Micros Values::seconds(std::string_view name) const {
  CHECK(must_find(name).kind == ValueKind::kSeconds);
  const auto seconds = parse_seconds(text(name));
  CHECK(seconds.has_value());
  return *seconds;
}

std::size_t Values::threads() const {
  return given("threads") == nullptr ? default_threads() : count("threads");
}

Error Values::wrong(std::string_view name, const Error& why) const {
  const Value* value = given(name);
  const std::string place = value != nullptr ? value->place : shown_name(must_find(name));
  return {fmt::format("{}: {}", place, why.message)};
}

}  // namespace partita::cli
