#include "api/routes.h"

#include <limits>

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
    {RouteId::kCancelJobs, "POST", "/v1/jobs/cancel", "cancel_jobs",
     "Stop several jobs, by number or by what they have in common; of others' none", kAll,
     Scope::kSubmit},
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
    {RouteId::kHistory, "GET", "/v1/history", "history",
     "What ended jobs used, by their numbers; of others' jobs nothing", kAll, Scope::kRead},
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
    {RouteId::kQuota, "GET", "/v1/quota", "quota",
     "What users and groups have of their quotas; of others nothing", kAll, Scope::kRead},
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

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

Match match_route(std::string_view method, std::string_view path) {
  Match match;
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : kRoutes) {
    Match found;
    found.route = &route;
    if (!matches(route.path, path, found)) continue;
    if (route.method == wanted) return found;
    match.allowed += (match.allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") match.allowed += ", HEAD";
  }
  return match;
}

}  // namespace partita::api
