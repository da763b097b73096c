// Routes: the table of what can be asked, who may ask it, and what it is for.
//
// The OpenAPI document and the authorisation tests are made from this table; a route that is not in
// it does not exist.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/tokens.h"
#include "base/job_number.h"
#include "control/limits.h"

namespace partita::api {

enum class RouteId : std::uint8_t {
  kSubmit,
  kListJobs,
  kShowJob,
  kCancelJob,
  kCancelJobs,
  kJobOutput,
  kGpus,
  kStatus,
  kShare,
  kEvents,
  kMetrics,
  kOpenApi,
  kHistory,
  kHoldJob,
  kReleaseJob,
  kRequeueJob,
  kDrainGpu,
  kResumeGpu,
  kQuota,
};

// What the caller is to what is asked for. Identity comes from the kernel.
enum class Role : std::uint8_t {
  kAdmin,  // root, or whoever the daemon runs as
  kOwner,  // of the job
  kUser,   // anyone else on this machine
};
inline constexpr std::size_t kRoles = 3;

struct Route {
  RouteId id;
  std::string_view method;
  std::string_view path;  // "{id}" and "{gpu}" stand for a number
  std::string_view name;
  std::string_view summary;
  // By role. Of lists: whether the caller may ask at all; of others' jobs they see less.
  std::array<bool, kRoles> allowed;
  Scope scope;  // the least a token must have
};

std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;  // null: no such path, or not with this method
  std::string allowed = {};      // the methods of a path that does not take this one
  JobNumber job;                 // kNoJob: the path names none
  std::uint32_t gpu = 0;         // where the path names one
};
// HEAD is answered where GET is.
Match match_route(std::string_view method, std::string_view path);

// Names of what may stand behind the `?` of a path, as the document of the interface has them.
std::vector<std::string_view> query_names(RouteId route);

inline bool may(const Route& route, Role role) {
  return route.allowed[static_cast<std::size_t>(role)];
}

// What is shown at once.
inline constexpr std::size_t kEventsShownMax = 1'000;
inline constexpr std::size_t kOutputBytesMax = 1U << 20U;
inline constexpr std::int64_t kOffsetMax = std::int64_t{1} << 62U;

// The document served at /v1/openapi.json. `limits`: those of this daemon.
std::string openapi_document(std::string_view version, const control::Limits& limits = {});

}  // namespace partita::api
