// The document of the interface: routes from their table, schemas from the descriptions of records.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/body.h"
#include "api/http.h"
#include "api/job_list.h"
#include "api/record_json.h"
#include "api/routes.h"
#include "api/service.h"
#include "base/text.h"
#include "control/quotas/quota_view.h"

namespace partita::api {
namespace {

constexpr auto kJsonType = "application/json";

Json text_schema() {
  return {{"type", "string"}};
}
Json number_schema(std::int64_t least, std::int64_t most) {
  return {{"type", "integer"}, {"format", "int64"}, {"minimum", least}, {"maximum", most}};
}
Json reference(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}
Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

// An object that has all of these and nothing else.
Json object_of(const std::vector<std::pair<std::string, Json>>& members) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const auto& [name, schema] : members) {
    required.push_back(name);
    properties[name] = schema;
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", required},
          {"properties", properties}};
}

Json schemas() {
  const Json number = number_schema(1, std::int64_t{1} << 53U);
  Json after = text_schema();
  after["nullable"] = true;
  after["description"] = "The parameter `after` of the next page; null: there is none";
  Json all;
  all["Error"] = object_of(
      {{"error", object_of({{"code", number_schema(400, 599)}, {"message", text_schema()}})}});
  all["Submission"] = schema_of_submission();
  all["Cancellation"] = schema_of_cancellation();
  all["JobNumbers"] = object_of({{"jobs", list_of(number)}});
  all["Refusal"] = schema_of_response<RefusalView>();
  all["Cancelled"] =
      object_of({{"jobs", list_of(number)}, {"refused", list_of(reference("Refusal"))}});
  all["JobHead"] = schema_of_response<control::JobHead<>>();
  all["OwnJob"] = schema_of_response<control::OwnJob<>>();
  Json jobs = list_of({{"anyOf", {reference("OwnJob"), reference("JobHead")}}});
  jobs["maxItems"] = kPageJobsMax;
  all["JobPage"] = object_of({{"jobs", std::move(jobs)},
                              {"total", number_schema(0, std::int64_t{1} << 53U)},
                              {"more", {{"type", "boolean"}}},
                              {"after", std::move(after)}});
  all["Job"] = schema_of_response<control::WholeJob>();
  all["Gpu"] = schema_of_response<control::GpuView>();
  all["Gpus"] = object_of({{"gpus", list_of(reference("Gpu"))}});
  all["Share"] = schema_of_response<SharesView>();
  all["Quota"] = schema_of_response<control::QuotaView>();
  all["History"] = schema_of_response<control::HistoryView>();
  all["Status"] = schema_of_response<StatusView>();
  return all;
}

struct Parameter {
  const char* name;
  Json schema;
  const char* meaning;
};

Json limited_text(std::size_t most) {
  return {{"type", "string"}, {"maxLength", most}};
}

// What may stand behind the `?`.
std::vector<Parameter> parameters_of(RouteId route) {
  if (route == RouteId::kJobOutput) {
    return {{"offset", number_schema(0, kOffsetMax),
             "The first byte to send; at most 1 MiB comes at once"}};
  }
  if (route == RouteId::kQuota) {
    return {{"user", limited_text(256), "Of this user alone, a name or a number"}};
  }
  if (route == RouteId::kDrainGpu) {
    return {{"reason", limited_text(256), "Shown to whoever asks"}};
  }
  if (route == RouteId::kHistory) {
    const Json instant{{"type", "number"}, {"minimum", 0}};
    Json most = number_schema(1, kPageJobsMax);
    most["default"] = kPageJobsDefault;
    return {{"since", instant, "Jobs that ended then or later, in seconds since 1970"},
            {"until", instant, "Jobs that ended before"},
            {"after", number_schema(0, std::int64_t{1} << 53U),
             "Jobs of higher numbers: `next` of the page before"},
            {"limit", std::move(most), "So many at most"}};
  }
  if (route != RouteId::kListJobs) return {};
  Json limit = number_schema(1, kPageJobsMax);
  limit["default"] = kPageJobsDefault;
  return {{"state", text_schema(), "active, or states with commas between them; all without it"},
          {"user", limited_text(256), "Of this user, a name or a number"},
          {"name", limited_text(control::Limits{}.name_bytes_max),
           "Of this name; the caller's own, unless an admin asks"},
          {"limit", std::move(limit), "So many at most"},
          {"after", limited_text(64), "Those behind this one: `after` of the page before"}};
}

struct Content {
  const char* type;
  Json schema;
  const char* meaning;
};

// What is answered when all is well.
Content content_of(RouteId route) {
  switch (route) {
    case RouteId::kSubmit:
      return {kJsonType, reference("JobNumbers"), "The numbers of the jobs, which are stored"};
    case RouteId::kCancelJob:
      return {kJsonType, reference("JobNumbers"), "It is stopped, or being stopped"};
    case RouteId::kCancelJobs:
      return {kJsonType, reference("Cancelled"),
              "Those that are stopped or being stopped, and those that are not"};
    case RouteId::kHoldJob:
      return {kJsonType, reference("JobNumbers"), "It does not start until it is released"};
    case RouteId::kReleaseJob:
      return {kJsonType, reference("JobNumbers"), "It may start"};
    case RouteId::kRequeueJob:
      return {kJsonType, reference("JobNumbers"), "It waits again, or is being stopped to do so"};
    case RouteId::kDrainGpu:
      return {kJsonType, reference("JobNumbers"), "It is drained; an empty list"};
    case RouteId::kResumeGpu:
      return {kJsonType, reference("JobNumbers"), "It is used again; an empty list"};
    case RouteId::kListJobs:
      return {kJsonType, reference("JobPage"),
              "A page of jobs: first those that hold a slice, then those that wait, the longest "
              "first, then those that have ended, the latest first"};
    case RouteId::kShowJob:
      return {kJsonType, reference("Job"), "The job"};
    case RouteId::kJobOutput:
      return {"application/octet-stream",
              {{"type", "string"}, {"format", "binary"}},
              "The bytes; the header Partita-State has the state of the job"};
    case RouteId::kGpus:
      return {kJsonType, reference("Gpus"), "The GPUs"};
    case RouteId::kStatus:
      return {kJsonType, reference("Status"), "The daemon"};
    case RouteId::kShare:
      return {kJsonType, reference("Share"), "How users stand"};
    case RouteId::kEvents:
      return {"text/event-stream", text_schema(), "Events, until the caller goes"};
    case RouteId::kMetrics:
      return {"text/plain", text_schema(), "The text format of Prometheus, version 0.0.4"};
    case RouteId::kOpenApi:
      return {kJsonType, {{"type", "object"}}, "This document"};
    case RouteId::kQuota:
      return {kJsonType, reference("Quota"), "Quotas, users first"};
    case RouteId::kHistory:
      return {kJsonType, reference("History"), "A page of ended jobs, by their numbers"};
  }
  return {kJsonType, {}, ""};
}

struct Trouble {
  int status;
  const char* meaning;
};

// The schema of the body; none: it has none.
const char* body_of(RouteId route) {
  if (route == RouteId::kSubmit) return "Submission";
  return route == RouteId::kCancelJobs ? "Cancellation" : nullptr;
}

std::vector<Trouble> troubles_of(const Route& route) {
  std::vector<Trouble> all{{401, "On TCP: no token, or one that is not known or has expired"},
                           {403, "The caller may not do this"}};
  const bool of_job = route.path.find("{id}") != std::string_view::npos;
  if (of_job) all.push_back({404, "There is no such job"});
  const bool of_gpu = route.path.find("{gpu}") != std::string_view::npos;
  const bool has_body = body_of(route.id) != nullptr;
  if (of_gpu) all.push_back({404, "There is no such GPU"});
  all.push_back({400, "What was asked for is not understood"});
  const bool of_state = of_job && route.method != "GET";
  if (of_state) all.push_back({409, "The state of the job does not allow it"});
  if (has_body) all.push_back({413, "The body is larger than 1 MiB"});
  if (route.id == RouteId::kSubmit) {
    all.push_back({429, "Too many jobs or submissions; Retry-After says when to come back"});
    all.push_back({507, "No job is taken now, for want of disk space"});
  }
  std::ranges::sort(all, {}, &Trouble::status);
  return all;
}

Json error_answer(const char* meaning) {
  return {{"description", meaning}, {"content", {{kJsonType, {{"schema", reference("Error")}}}}}};
}

Json operation_of(const Route& route) {
  Json operation;
  operation["operationId"] = route.name;
  operation["summary"] = route.summary;
  const auto in_path = [&](const char* name, const char* meaning, const Json& schema) {
    if (route.path.find("{" + std::string(name) + "}") == std::string_view::npos) return;
    operation["parameters"].push_back({{"name", name},
                                       {"in", "path"},
                                       {"required", true},
                                       {"description", meaning},
                                       {"schema", schema}});
  };
  in_path("id", "The number of the job",
          number_schema(1, std::numeric_limits<std::int64_t>::max()));
  in_path("gpu", "The number of the GPU",
          number_schema(0, std::numeric_limits<std::uint32_t>::max()));
  for (const Parameter& parameter : parameters_of(route.id)) {
    operation["parameters"].push_back({{"name", parameter.name},
                                       {"in", "query"},
                                       {"description", parameter.meaning},
                                       {"schema", parameter.schema}});
  }
  if (const char* name = body_of(route.id)) {
    operation["requestBody"]["required"] = true;
    operation["requestBody"]["content"][kJsonType]["schema"] = reference(name);
    operation["requestBody"]["x-bytes-max"] = kBodyBytesMax;
  }
  const Content content = content_of(route.id);
  operation["responses"][route.id == RouteId::kSubmit ? "201" : "200"] = {
      {"description", content.meaning},
      {"content", {{content.type, {{"schema", content.schema}}}}}};
  for (const Trouble& each : troubles_of(route)) {
    operation["responses"][std::to_string(each.status)] = error_answer(each.meaning);
  }
  operation["responses"]["default"] = error_answer("error.message says why not");
  operation["security"].push_back({{"token", Json::array()}});
  operation["x-token-scope"] = name_of(route.scope);
  return operation;
}

Json servers() {
  Json port{{"default", "7070"}, {"description", "As given to serve --listen tcp:127.0.0.1:PORT"}};
  return Json::array(
      {{{"url", "/"},
        {"description",
         "Where this document came from; the unix socket has no address of its own"}},
       {{"url", "http://127.0.0.1:{port}"},
        {"description", "Callers with a token, on the machine of the daemon"},
        {"variables", {{"port", std::move(port)}}}}});
}

// What is enforced and not of one field.
Json limits_json(const control::Limits& limits) {
  return {{"head_bytes", kHeadBytesMax},
          {"body_bytes", kBodyBytesMax},
          {"body_depth", kBodyDepthMax},
          {"body_names", kBodyNamesMax},
          {"body_values", kBodyValuesMax},
          {"page_jobs", kPageJobsMax},
          {"events_of_a_job", kEventsShownMax},
          {"output_bytes_at_once", kOutputBytesMax},
          {"command_bytes", limits.argv_bytes_max},
          {"array_jobs", limits.array_jobs_max},
          {"queue_jobs", limits.queue_jobs_max},
          {"queue_jobs_of_a_user", limits.queue_jobs_per_user_max},
          {"ended_jobs_kept", limits.finished_jobs_kept_max},
          {"time_limit_s",
           limits.time_limit_max > Micros{} ? Json(limits.time_limit_max.to_seconds()) : Json()}};
}

}  // namespace

std::vector<std::string_view> query_names(RouteId route) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters_of(route)) names.emplace_back(parameter.name);
  return names;
}

std::string openapi_document(std::string_view version, const control::Limits& limits) {
  Json json;
  json["openapi"] = "3.0.3";
  json["info"] = {
      {"title", "Partita"},
      {"version", version},
      {"description",
       "The daemon of Partita: jobs on slices of GPUs. HEAD is answered wherever GET is. Times are "
       "seconds since 1970. A body has each name once. x-limits has what is enforced beside what "
       "the schemas say; lengths of texts are counted in bytes."},
      {"license", {{"name", "Apache-2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0"}}},
      {"x-limits", limits_json(limits)}};
  json["servers"] = servers();
  json["security"] = Json::array({{{"token", Json::array()}}});
  json["components"]["securitySchemes"]["token"] = {
      {"type", "http"},
      {"scheme", "bearer"},
      {"description",
       "On TCP; made by `partita token create`. On the unix socket the kernel says who calls, and "
       "no token is looked at. x-token-scope is the least scope an operation needs."}};
  json["components"]["schemas"] = schemas();
  for (const Route& route : routes()) {
    json["paths"][std::string(route.path)][lower(route.method)] = operation_of(route);
  }
  return json.dump(2);
}

}  // namespace partita::api
