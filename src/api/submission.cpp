#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/service.h"
#include "base/text.h"

namespace partita::api {
namespace {

using Json = nlohmann::json;

// Reads the fields of one body; the first thing that is wrong is kept.
class Body {
 public:
  explicit Body(const Json& json) : json_(json) {}

  const std::string& why() const { return why_; }
  bool good() const { return why_.empty(); }
  void wrong(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> list;
    const Json* field = find(name);
    if (field == nullptr) return list;
    if (!field->is_array()) return wrong_type(name, "a list of texts"), list;
    for (const Json& each : *field) {
      if (!each.is_string()) return wrong_type(name, "a list of texts"), list;
      list.push_back(each.get<std::string>());
    }
    return list;
  }

  std::string text(const char* name) {
    const Json* field = find(name);
    if (field == nullptr) return {};
    if (!field->is_string()) return wrong_type(name, "a text"), std::string();
    return field->get<std::string>();
  }

  std::optional<double> number(const char* name) {
    const Json* field = find(name);
    if (field == nullptr || field->is_null()) return {};
    if (!field->is_number()) return wrong_type(name, "a number"), std::nullopt;
    return field->get<double>();
  }

  const Json* find(const char* name) {
    ++known_;
    const auto field = json_.find(name);
    if (field == json_.end()) {
      --known_;
      return nullptr;
    }
    return &*field;
  }

  // Every field that is there was asked for.
  bool all_known() const { return known_ == json_.size(); }

 private:
  void wrong_type(const char* name, const char* wanted) {
    wrong(fmt::format("the field {} is not {}", name, wanted));
  }

  const Json& json_;
  std::string why_;
  std::size_t known_ = 0;
};

// {"1": 1200, "7": 300}: seconds by compute slices.
void read_times(Body& body, control::JobSpec& spec) {
  const Json* times = body.find("times_s");
  if (times == nullptr) return;
  if (!times->is_object()) return body.wrong("the field times_s is no object");
  for (const auto& [name, value] : times->items()) {
    const auto size = parse_int(name);
    const auto index = size ? workload::slice_size_index(static_cast<int>(*size)) : std::nullopt;
    const bool good =
        index && value.is_number() && value.get<double>() > 0 && value.get<double>() < 1e9;
    if (!good) {
      return body.wrong("the field times_s has seconds above 0 for sizes 1, 2, 3, 4 and 7");
    }
    spec.times[*index] = micros_from_seconds(value.get<double>());
  }
}

}  // namespace

Result<control::Submit> parse_submission(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"the body is no JSON object"};
  Body body(json);
  control::Submit submit;
  control::JobSpec& spec = submit.spec;
  spec.argv = body.texts("argv");
  spec.environment = body.texts("env");
  spec.directory = body.text("directory");
  spec.name = body.text("name");
  spec.memory_gib = body.number("memory_gib");
  if (const auto deadline = body.number("deadline_s")) {
    if (!(*deadline > 0 && *deadline < 1e11)) body.wrong("the field deadline_s is no instant");
    if (body.good()) spec.deadline = micros_from_seconds(*deadline);
  }
  if (const auto limit = body.number("time_limit_s")) {
    if (!(*limit > 0 && *limit < 1e9)) body.wrong("the field time_limit_s is no span of time");
    if (body.good()) spec.time_limit = micros_from_seconds(*limit);
  }
  read_times(body, spec);
  spec.checkpoint = body.texts("checkpoint");
  submit.key = body.text("key");
  if (const auto count = body.number("array")) {
    if (!(*count >= 1 && *count <= 1e6)) body.wrong("the field array is no number of jobs");
    if (body.good()) submit.count = static_cast<std::size_t>(*count);
  }
  if (!body.good()) return Error{body.why()};
  if (!body.all_known()) {
    return Error{
        "a field is unknown; known: argv, env, directory, name, memory_gib, deadline_s, times_s, "
        "time_limit_s, checkpoint, key, array"};
  }
  return submit;
}

}  // namespace partita::api
