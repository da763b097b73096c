#include "api/routes.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"

namespace partita::api {
namespace {

constexpr std::array<bool, kRoles> kAll{true, true, true};
constexpr std::array<bool, kRoles> kNotOthers{true, true, false};

// clang-format off
constexpr std::array kRoutes = std::to_array<Route>({
    {RouteId::kSubmit, "POST", "/v1/jobs", "submit",
     "Submit a job, or an array of equal jobs", kAll, Scope::kSubmit},
    {RouteId::kListJobs, "GET", "/v1/jobs", "list_jobs",
     "The jobs; of others' only number, owner, state and times", kAll, Scope::kRead},
    {RouteId::kShowJob, "GET", "/v1/jobs/{id}", "show_job",
     "One job with its attempts and its events", kNotOthers, Scope::kRead},
    {RouteId::kCancelJob, "DELETE", "/v1/jobs/{id}", "cancel_job",
     "Stop a job, or take it out of the queue", kNotOthers, Scope::kSubmit},
    {RouteId::kJobOutput, "GET", "/v1/jobs/{id}/output", "job_output",
     "What the job wrote, from the byte `offset`", kNotOthers, Scope::kRead},
    {RouteId::kGpus, "GET", "/v1/gpus", "gpus",
     "The GPUs, their slices and what is on them", kAll, Scope::kRead},
    {RouteId::kStatus, "GET", "/v1/status", "status",
     "The daemon, its policy and its counts", kAll, Scope::kRead},
    {RouteId::kEvents, "GET", "/v1/events", "events",
     "What happens, as server-sent events; of others' jobs nothing", kAll, Scope::kRead},
    {RouteId::kMetrics, "GET", "/metrics", "metrics",
     "Figures as Prometheus reads them", kAll, Scope::kRead},
    {RouteId::kOpenApi, "GET", "/v1/openapi.json", "openapi",
     "This interface as OpenAPI 3.0", kAll, Scope::kRead},
});
// clang-format on

// Whether the path is of the pattern; the number in it goes to `id`.
bool matches(std::string_view pattern, std::string_view path, std::int64_t& id) {
  const auto wanted = split(pattern, '/');
  const auto given = split(path, '/');
  if (wanted.size() != given.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != "{id}") {
      if (wanted[i] != given[i]) return false;
      continue;
    }
    const auto number = parse_int(given[i]);
    if (!number || *number < 1 || std::to_string(*number) != given[i]) return false;
    id = *number;
  }
  return true;
}

struct Parameter {
  const char* name;
  const char* type;
  const char* meaning;
};

// What may stand behind the `?`.
std::vector<Parameter> parameters_of(RouteId route) {
  if (route == RouteId::kJobOutput) {
    return {{"offset", "integer", "The first byte to send; at most 1 MiB comes at once"}};
  }
  if (route == RouteId::kListJobs) {
    return {{"state", "string", "active, or one state; all without it"},
            {"limit", "integer", "The latest so many, at most 10,000"}};
  }
  return {};
}

nlohmann::ordered_json submission_schema() {
  using Json = nlohmann::ordered_json;
  const Json text{{"type", "string"}};
  const Json texts{{"type", "array"}, {"items", text}};
  const Json number{{"type", "number"}, {"minimum", 0}, {"exclusiveMinimum", true}};
  Json schema;
  schema["type"] = "object";
  schema["required"] = {"argv", "directory"};
  schema["additionalProperties"] = false;
  Json& fields = schema["properties"];
  for (const char* name : {"argv", "env", "checkpoint"}) fields[name] = texts;
  for (const char* name : {"directory", "name", "key"}) fields[name] = text;
  for (const char* name : {"memory_gib", "deadline_s", "time_limit_s"}) fields[name] = number;
  fields["times_s"] = {{"type", "object"}, {"additionalProperties", number}};
  fields["array"] = {{"type", "integer"}, {"minimum", 1}};
  return schema;
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

Match match_route(std::string_view method, std::string_view path) {
  Match match;
  for (const Route& route : kRoutes) {
    std::int64_t id = 0;
    if (!matches(route.path, path, id)) continue;
    if (route.method == method) return {&route, false, id};
    match.wrong_method = true;
  }
  return match;
}

std::string openapi_document(std::string_view version) {
  nlohmann::ordered_json json;
  json["openapi"] = "3.0.3";
  json["info"] = {{"title", "Partita"}, {"version", version}};
  json["components"]["securitySchemes"]["token"] = {
      {"type", "http"},
      {"scheme", "bearer"},
      {"description",
       "On TCP; made by `partita token create`. On the unix socket the kernel says who calls, and "
       "no token is looked at. x-token-scope is the least scope an operation needs."}};
  for (const Route& route : kRoutes) {
    auto& operation = json["paths"][std::string(route.path)][lower(route.method)];
    operation["operationId"] = route.name;
    operation["summary"] = route.summary;
    if (route.path.find("{id}") != std::string_view::npos) {
      operation["parameters"].push_back({{"name", "id"},
                                         {"in", "path"},
                                         {"required", true},
                                         {"schema", {{"type", "integer"}, {"minimum", 1}}}});
    }
    for (const Parameter& parameter : parameters_of(route.id)) {
      operation["parameters"].push_back({{"name", parameter.name},
                                         {"in", "query"},
                                         {"description", parameter.meaning},
                                         {"schema", {{"type", parameter.type}}}});
    }
    if (route.id == RouteId::kSubmit) {
      operation["requestBody"]["content"]["application/json"]["schema"] = submission_schema();
    }
    const char* good = route.id == RouteId::kSubmit ? "201" : "200";
    operation["responses"][good]["description"] = "done";
    operation["responses"]["default"]["description"] = "error.message says why not";
    operation["security"].push_back({{"token", nlohmann::ordered_json::array()}});
    operation["x-token-scope"] = name_of(route.scope);
  }
  return json.dump(2);
}

}  // namespace partita::api
