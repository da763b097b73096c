#include "api/record_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "api/service.h"
#include "api/submission.h"
#include "base/record.h"
#include "control/quotas/quota_view.h"

namespace partita::api {
namespace {

template <typename T>
Json to_json(const T& value, const Field& field = {}) {
  if constexpr (std::same_as<T, Micros>) {
    return value.to_seconds();
  } else if constexpr (std::same_as<T, JobNumber>) {
    return value.value;
  } else if constexpr (kIsOptional<T>) {
    if (value) return to_json(*value);
    return field.absent.empty() ? Json() : Json(field.absent);
  } else if constexpr (kIsList<T>) {
    Json list = Json::array();
    for (const auto& each : value) list.push_back(to_json(each));
    return list;
  } else if constexpr (kIsArray<T>) {  // times by slice size
    Json object = Json::object();
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i]) object[std::to_string(workload::kSliceSizes[i])] = value[i]->to_seconds();
    }
    return object;
  } else if constexpr (Described<T>) {
    Json object = Json::object();
    T::fields(value, [&](const Field& inner, const auto& part) {
      object.emplace(std::string(inner.name), to_json(part, inner));
    });
    return object;
  } else {
    return value;
  }
}

// ---- the schema of OpenAPI 3.0

// What a caller sends or is shown.
enum class Way : std::uint8_t { kSent, kShown };

// Whatever is a text in JSON, counted in bytes.
void put_text_limits(Json& schema, const Field& field) {
  if (field.most != kNoLimit) schema["maxLength"] = static_cast<std::int64_t>(field.most);
  if (!field.pattern.empty()) schema["pattern"] = field.pattern;
}

void put_limits(Json& schema, const Field& field, bool whole) {
  if (field.most == kNoLimit) return;
  schema["minimum"] = whole ? 1 : 0;
  if (field.negative) schema["minimum"] = -field.most;
  if (!whole) schema["exclusiveMinimum"] = true;
  schema["maximum"] = field.most;
}

template <typename T>
Json schema_of(Way way, const Field& field = {});

// Of anything with fields: `walk(visit)` visits them.
Json object_schema(Way way, const auto& walk) {
  Json schema{{"type", "object"}, {"additionalProperties", false}};
  Json properties = Json::object();
  Json required = Json::array();
  walk([&]<typename T>(const Field& field, const T&) {
    const auto [at, added] = properties.emplace(std::string(field.name), schema_of<T>(way, field));
    if (added && (way == Way::kShown || field.required)) required.push_back(field.name);
  });
  if (!required.empty()) schema["required"] = required;
  schema["properties"] = std::move(properties);
  return schema;
}

template <typename T>
Json schema_of(Way way, const Field& field) {
  Json schema;
  if constexpr (kIsOptional<T>) {
    schema = schema_of<typename T::value_type>(way, field);
    if (way == Way::kShown && !field.absent.empty()) {
      return {{"anyOf", {schema, {{"type", "string"}, {"enum", {field.absent}}}}}};
    }
    schema["nullable"] = true;
    return schema;
  } else if constexpr (std::same_as<T, bool>) {
    schema["type"] = "boolean";
  } else if constexpr (std::same_as<T, double> || std::same_as<T, Micros>) {
    schema["type"] = "number";
    put_limits(schema, field, false);
  } else if constexpr (WholeNumber<T>) {
    schema["type"] = "integer";
    put_limits(schema, field, true);
  } else if constexpr (kIsList<T>) {
    schema["type"] = "array";
    const bool sent = way == Way::kSent;
    schema["items"] = schema_of<typename T::value_type>(
        way, sent ? Field{.most = field.most, .pattern = field.pattern} : Field{});
    if (sent && field.items != kNoLimit)
      schema["maxItems"] = static_cast<std::int64_t>(field.items);
    if (sent && field.required) schema["minItems"] = 1;
  } else if constexpr (kIsArray<T>) {
    schema["type"] = "object";
    schema["additionalProperties"] = false;
    for (const int size : workload::kSliceSizes) {
      schema["properties"][std::to_string(size)] = schema_of<Micros>(way, {.most = field.most});
    }
  } else if constexpr (Described<T>) {
    schema = object_schema(way, [](auto visit) {
      const T none{};
      T::fields(none, visit);
    });
  } else {
    schema["type"] = "string";
    if (way == Way::kSent) put_text_limits(schema, field);
  }
  if (!field.doc.empty()) schema["description"] = field.doc;
  return schema;
}

}  // namespace

template <typename View>
Json json_of(const View& view) {
  return to_json(view);
}
template Json json_of(const control::EventView&);
template Json json_of(const control::JobHead<>&);
template Json json_of(const control::OwnJob<>&);
template Json json_of(const control::WholeJob&);
template Json json_of(const control::GpuView&);
template Json json_of(const StatusView&);
template Json json_of(const SharesView&);
template Json json_of(const control::HistoryView&);
template Json json_of(const control::QuotaView&);
template Json json_of(const RefusalView&);
template Json json_of(const std::vector<JobNumber>&);

template <typename View>
Json schema_of_response() {
  return schema_of<View>(Way::kShown);
}
template Json schema_of_response<control::JobHead<>>();
template Json schema_of_response<control::OwnJob<>>();
template Json schema_of_response<control::WholeJob>();
template Json schema_of_response<control::GpuView>();
template Json schema_of_response<StatusView>();
template Json schema_of_response<SharesView>();
template Json schema_of_response<control::HistoryView>();
template Json schema_of_response<control::QuotaView>();
template Json schema_of_response<RefusalView>();

Json schema_of_submission() {
  return object_schema(Way::kSent, [](auto visit) {
    const control::Submit none;
    body_fields(none, visit);
  });
}

Json schema_of_cancellation() {
  return schema_of<Cancellation>(Way::kSent);
}

}  // namespace partita::api
