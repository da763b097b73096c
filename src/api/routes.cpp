#include "api/routes.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "api/record_json.h"
#include "api/service.h"
#include "base/text.h"

namespace partita::api {
namespace {

constexpr std::array<bool, kRoles> kAll{true, true, true};
constexpr std::array<bool, kRoles> kNotOthers{true, true, false};
constexpr std::array<bool, kRoles> kAdmins{true, false, false};

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
    {RouteId::kShare, "GET", "/v1/share", "share",
     "What users had of the fleet, and who goes first", kAll, Scope::kRead},
    {RouteId::kEvents, "GET", "/v1/events", "events",
     "What happens, as server-sent events; of others' jobs nothing", kAll, Scope::kRead},
    {RouteId::kMetrics, "GET", "/metrics", "metrics",
     "Figures as Prometheus reads them", kAll, Scope::kRead},
    {RouteId::kOpenApi, "GET", "/v1/openapi.json", "openapi",
     "This interface as OpenAPI 3.0", kAll, Scope::kRead},
    {RouteId::kHoldJob, "POST", "/v1/jobs/{id}/hold", "hold_job",
     "Keep a waiting job from starting, or one that runs from starting again", kNotOthers,
     Scope::kSubmit},
    {RouteId::kReleaseJob, "POST", "/v1/jobs/{id}/release", "release_job",
     "Let a job that is held start; what an admin held, an admin releases", kNotOthers,
     Scope::kSubmit},
    {RouteId::kRequeueJob, "POST", "/v1/jobs/{id}/requeue", "requeue_job",
     "Stop a job and let it wait again, or queue one that has ended again", kNotOthers,
     Scope::kSubmit},
    {RouteId::kDrainGpu, "POST", "/v1/gpus/{gpu}/drain", "drain_gpu",
     "Start no job on the GPU until it is resumed; those that run there go on", kAdmins,
     Scope::kAdmin},
    {RouteId::kResumeGpu, "POST", "/v1/gpus/{gpu}/resume", "resume_gpu",
     "Use a GPU that was drained again", kAdmins, Scope::kAdmin},
});
// clang-format on

// Whether the path is of the pattern; the number in it goes to `match`.
bool matches(std::string_view pattern, std::string_view path, Match& match) {
  const auto wanted = split(pattern, '/');
  const auto given = split(path, '/');
  if (wanted.size() != given.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool of_gpu = wanted[i] == "{gpu}";
    if (wanted[i] != "{id}" && !of_gpu) {
      if (wanted[i] != given[i]) return false;
      continue;
    }
    const auto number = parse_int(given[i]);
    if (!number || *number < (of_gpu ? 0 : 1) || std::to_string(*number) != given[i]) return false;
    if (of_gpu && *number > std::numeric_limits<std::uint32_t>::max()) return false;
    if (of_gpu) match.gpu = static_cast<std::uint32_t>(*number);
    if (!of_gpu) match.job = {*number};
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
  if (route == RouteId::kDrainGpu) {
    return {{"reason", "string", "Shown to whoever asks; at most 256 bytes"}};
  }
  if (route == RouteId::kListJobs) {
    return {{"state", "string", "active, or one state; all without it"},
            {"limit", "integer", "The latest so many, at most 10,000"}};
  }
  return {};
}

Json list_schema(const char* name, Json items) {
  const Json list{{"type", "array"}, {"items", std::move(items)}};
  return {{"type", "object"}, {"required", {name}}, {"properties", {{name, list}}}};
}

struct Content {
  const char* type;
  Json schema;
};

// What is answered when all is well.
Content content_of(RouteId route) {
  constexpr auto kJson = "application/json";
  const Json text{{"type", "string"}};
  switch (route) {
    case RouteId::kSubmit:
    case RouteId::kCancelJob:
    case RouteId::kHoldJob:
    case RouteId::kReleaseJob:
    case RouteId::kRequeueJob:
    case RouteId::kDrainGpu:
    case RouteId::kResumeGpu:
      return {kJson, list_schema("jobs", {{"type", "integer"}})};
    case RouteId::kListJobs:
      return {kJson, list_schema("jobs", {{"anyOf",
                                           {schema_of_response<control::OwnJob<>>(),
                                            schema_of_response<control::JobHead<>>()}}})};
    case RouteId::kShowJob:
      return {kJson, schema_of_response<control::WholeJob>()};
    case RouteId::kJobOutput:
      return {"application/octet-stream", {{"type", "string"}, {"format", "binary"}}};
    case RouteId::kGpus:
      return {kJson, list_schema("gpus", schema_of_response<control::GpuView>())};
    case RouteId::kStatus:
      return {kJson, schema_of_response<StatusView>()};
    case RouteId::kShare:
      return {kJson, schema_of_response<control::ShareView>()};
    case RouteId::kEvents:
      return {"text/event-stream", text};
    case RouteId::kMetrics:
      return {"text/plain", text};
    case RouteId::kOpenApi:
      return {kJson, {{"type", "object"}}};
  }
  return {kJson, {}};
}

Json error_schema() {
  const Json error{
      {"type", "object"},
      {"required", {"code", "message"}},
      {"properties", {{"code", {{"type", "integer"}}}, {"message", {{"type", "string"}}}}}};
  return {{"type", "object"}, {"required", {"error"}}, {"properties", {{"error", error}}}};
}

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

Match match_route(std::string_view method, std::string_view path) {
  Match match;
  for (const Route& route : kRoutes) {
    Match found;
    found.route = &route;
    if (!matches(route.path, path, found)) continue;
    if (route.method == method) return found;
    match.wrong_method = true;
  }
  return match;
}

std::string openapi_document(std::string_view version) {
  Json json;
  json["openapi"] = "3.0.3";
  json["info"] = {{"title", "Partita"}, {"version", version}};
  json["components"]["securitySchemes"]["token"] = {
      {"type", "http"},
      {"scheme", "bearer"},
      {"description",
       "On TCP; made by `partita token create`. On the unix socket the kernel says who calls, and "
       "no token is looked at. x-token-scope is the least scope an operation needs."}};
  json["components"]["schemas"]["Error"] = error_schema();
  for (const Route& route : kRoutes) {
    auto& operation = json["paths"][std::string(route.path)][lower(route.method)];
    operation["operationId"] = route.name;
    operation["summary"] = route.summary;
    for (const auto& [name, least] : {std::pair{"id", 1}, std::pair{"gpu", 0}}) {
      if (route.path.find(fmt::format("{{{}}}", name)) == std::string_view::npos) continue;
      operation["parameters"].push_back({{"name", name},
                                         {"in", "path"},
                                         {"required", true},
                                         {"schema", {{"type", "integer"}, {"minimum", least}}}});
    }
    for (const Parameter& parameter : parameters_of(route.id)) {
      operation["parameters"].push_back({{"name", parameter.name},
                                         {"in", "query"},
                                         {"description", parameter.meaning},
                                         {"schema", {{"type", parameter.type}}}});
    }
    if (route.id == RouteId::kSubmit) {
      operation["requestBody"]["content"]["application/json"]["schema"] = schema_of_submission();
    }
    const char* good = route.id == RouteId::kSubmit ? "201" : "200";
    const Content content = content_of(route.id);
    operation["responses"][good] = {{"description", "done"},
                                    {"content", {{content.type, {{"schema", content.schema}}}}}};
    operation["responses"]["default"] = {
        {"description", "error.message says why not"},
        {"content",
         {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
    operation["security"].push_back({{"token", Json::array()}});
    operation["x-token-scope"] = name_of(route.scope);
  }
  return json.dump(2);
}

}  // namespace partita::api
