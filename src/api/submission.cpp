#include "api/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/body.h"
#include "base/text.h"

namespace partita::api {
namespace {

using AnyJson = nlohmann::json;

constexpr std::size_t kShownBytes = 64;

// As messages show it: quoted and escaped, or only its length.
std::string shown_json(const AnyJson& json) {
  const std::string text = json.dump();
  return text.size() > kShownBytes ? fmt::format("{} bytes of JSON", text.size()) : text;
}

// Reads the fields of one object; the first thing that is wrong is kept as a sentence.
class JsonReader {
 public:
  explicit JsonReader(const AnyJson& object) : object_(object) {}

  template <typename T>
  void operator()(const Field& field, T& value) {
    known_.emplace_back(field.name);
    const auto found = object_.find(std::string(field.name));
    if (found == object_.end()) return;
    ++asked_;
    read(field, *found, value);
  }

  // Why the object is refused; empty: it is not. Fields that were not asked for are unknown.
  std::string why() const {
    if (!why_.empty() || asked_ == object_.size()) return why_;
    for (const auto& [name, value] : object_.items()) {
      if (std::ranges::find(known_, name) != known_.end()) continue;
      const std::string shown = name.size() > kShownBytes
                                    ? fmt::format("whose name has {} bytes", name.size())
                                    : shown_json(name);
      return fmt::format("the field {} is unknown; known: {}", shown, fmt::join(known_, ", "));
    }
    return {};
  }

 private:
  template <typename T>
  void read(const Field& field, const AnyJson& json, T& value) {
    if constexpr (kIsOptional<T>) {
      if (!json.is_null()) read(field, json, value.emplace());
    } else if constexpr (std::same_as<T, bool>) {
      if (wanted(json.is_boolean(), field, json, "true or false")) value = json.get<bool>();
    } else if constexpr (std::same_as<T, std::string>) {
      if (wanted(json.is_string(), field, json, "a text")) value = json.get<T>();
    } else if constexpr (std::same_as<T, std::vector<JobNumber>>) {
      read_jobs(field, json, value);
    } else if constexpr (kIsList<T>) {
      const auto is_text = [](const AnyJson& each) { return each.is_string(); };
      const bool texts = json.is_array() && std::ranges::all_of(json, is_text);
      if (wanted(texts, field, json, "a list of texts")) value = json.get<T>();
    } else if constexpr (kIsArray<T>) {
      read_times(field, json, value);
    } else {
      read_number(field, json, value);
    }
  }

  void read_jobs(const Field& field, const AnyJson& json, std::vector<JobNumber>& jobs) {
    const auto is_number = [](const AnyJson& each) {
      return each.is_number_integer() && each.get<std::int64_t>() > 0;
    };
    const bool numbers = json.is_array() && std::ranges::all_of(json, is_number) &&
                         static_cast<double>(json.size()) <= field.items;
    const std::string what = fmt::format("a list of at most {:.0f} numbers of jobs", field.items);
    if (!wanted(numbers, field, json, what)) return;
    for (const AnyJson& each : json) jobs.push_back({each.get<std::int64_t>()});
  }

  template <typename T>
  void read_number(const Field& field, const AnyJson& json, T& value) {
    const double number = json.is_number() ? json.get<double>() : 0;
    const bool whole = std::integral<T>;
    const bool above = field.negative ? json.is_number() && number >= -field.most : number > 0;
    const bool good = above && number <= field.most && (!whole || number == std::floor(number));
    const std::string what = field.negative ? fmt::format("a whole number from {:.15g} to {:.15g}",
                                                          -field.most, field.most)
                                            : fmt::format("a {}number above 0 and at most {:.15g}",
                                                          whole ? "whole " : "", field.most);
    if (!wanted(good, field, json, what)) return;
    if constexpr (std::same_as<T, Micros>) {
      value = micros_from_seconds(number);
    } else {
      value = static_cast<T>(number);
    }
  }

  // {"1": 1200, "7": 300}: seconds by compute slices.
  template <typename T>
  void read_times(const Field& field, const AnyJson& json, T& times) {
    if (!wanted(json.is_object(), field, json, "an object of seconds by slice size")) return;
    for (const auto& [name, seconds] : json.items()) {
      const auto size = parse_int(name);
      const auto index = size ? workload::slice_size_index(static_cast<int>(*size)) : std::nullopt;
      if (!wanted(index.has_value(), field, json, "slice sizes 1, 2, 3, 4 and 7")) return;
      read(field, seconds, times[*index].emplace());
    }
  }

  bool wanted(bool good, const Field& field, const AnyJson& json, const std::string& what) {
    if (good || !why_.empty()) return good;
    why_ = fmt::format("the field {} has {}; wanted {}", field.name, shown_json(json), what);
    return false;
  }

  const AnyJson& object_;
  std::vector<std::string_view> known_;
  std::string why_;
  std::size_t asked_ = 0;
};

}  // namespace

Result<control::Submit> parse_submission(std::string_view text) {
  const Result<AnyJson> json = parse_body(text);
  if (!json) return json.error();
  control::Submit submit;
  JsonReader reader(*json);
  body_fields(submit, reader);
  if (!reader.why().empty()) return Error{reader.why()};
  return submit;
}

Result<Cancellation> parse_cancellation(std::string_view text) {
  const Result<AnyJson> json = parse_body(text);
  if (!json) return json.error();
  Cancellation wanted;
  JsonReader reader(*json);
  Cancellation::fields(wanted, reader);
  if (!reader.why().empty()) return Error{reader.why()};
  const bool common = wanted.user || wanted.state || wanted.name;
  if (wanted.jobs.empty() == !common) {
    return Error{
        "which jobs are to be cancelled is said by `jobs`, or by `user`, `state` and `name`"};
  }
  return wanted;
}

}  // namespace partita::api
