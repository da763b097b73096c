#include "api/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/record_json.h"
#include "api/submission.h"
#include "base/text.h"

namespace partita::api {
namespace {

using control::Job;

constexpr std::uint32_t kNobody = 65534;
constexpr std::size_t kListMax = 10'000;
constexpr std::size_t kEventsMax = 1'000;
constexpr std::size_t kOutputMax = 1U << 20U;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response json_response(const Json& json, int status = 200) {
  Response response;
  response.status = status;
  response.body = text_of(json);
  return response;
}

// A text of a query, where %XX stands for a byte; nothing when an escape is none.
std::optional<std::string> unescaped(std::string_view text) {
  const auto digit = [](char c) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    return kDigits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
  };
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const std::size_t high = i + 2 < text.size() ? digit(text[i + 1]) : std::string_view::npos;
    const std::size_t low = i + 2 < text.size() ? digit(text[i + 2]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) return {};
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

bool owns(const Caller& caller, const Job& job) {
  return caller.admin || caller.uid == job.owner.uid;
}

}  // namespace

Handled Service::handle(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  const Match match = match_route(request.method, request.path);
  if (match.route == nullptr) {
    return match.wrong_method ? error_response(405, "this path does not take that method")
                              : error_response(404, "there is no such path");
  }
  if (caller.scope < match.route->scope) {
    return error_response(403,
                          fmt::format("this takes a token of scope {}, and the one shown has {}",
                                      name_of(match.route->scope), name_of(caller.scope)));
  }
  const bool of_job = match.job != kNoJob;
  const Job* job = of_job ? controller_.find(match.job) : nullptr;
  if (of_job && job == nullptr) {
    return error_response(404, fmt::format("there is no job {}", match.job));
  }
  const bool owner = job != nullptr && caller.uid == job->owner.uid;
  const Role role = caller.admin ? Role::kAdmin : owner ? Role::kOwner : Role::kUser;
  if (!may(*match.route, role)) {
    return error_response(403, of_job ? fmt::format("job {} belongs to somebody else", match.job)
                                      : "this is for admins");
  }
  switch (match.route->id) {
    case RouteId::kSubmit:
      return submit(request, caller, ticket);
    case RouteId::kListJobs:
      return list_jobs(request, caller);
    case RouteId::kShowJob:
      return json_response(
          json_of(control::whole_view_of(controller_, *job, around_.events(job->id, kEventsMax))));
    case RouteId::kCancelJob:
      return Handled(control::Input(control::Cancel{ticket, match.job}));
    case RouteId::kHoldJob:
    case RouteId::kReleaseJob:
      return Handled(control::Input(control::Hold{
          ticket, match.job, match.route->id == RouteId::kHoldJob, caller.admin && !owner}));
    case RouteId::kRequeueJob:
      return Handled(control::Input(control::Requeue{ticket, match.job}));
    case RouteId::kDrainGpu:
    case RouteId::kResumeGpu:
      return drain(request, match, ticket);
    case RouteId::kJobOutput:
      return output(request, *job);
    case RouteId::kGpus:
      return gpus(caller);
    case RouteId::kShare:
      return json_response(json_of(control::share_view_of(controller_)));
    case RouteId::kStatus:
      return status();
    case RouteId::kEvents: {
      Response response;
      response.type = "text/event-stream";
      response.stream = true;
      response.body = ": follows\n\n";
      return response;
    }
    case RouteId::kMetrics: {
      Response response;
      response.type = "text/plain; version=0.0.4";
      response.body = metrics_text(controller_, around_);
      return response;
    }
    case RouteId::kOpenApi:
      return Response{200, "application/json", openapi_document(around_.version), {}};
  }
  return error_response(404, "there is no such path");
}

Handled Service::submit(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  const std::string closed = around_.why_closed();
  if (!closed.empty()) return error_response(507, closed);
  const bool nobody = around_.uid_min > 0 && caller.uid == kNobody;
  if (caller.uid < around_.uid_min || nobody) {
    return error_response(403, fmt::format("jobs of user {} are not run here: users below {} and "
                                           "nobody are the system's",
                                           caller.uid, around_.uid_min));
  }
  const Micros wait = caller.admin ? Micros{} : around_.wait_to_submit(caller.uid);
  if (wait > Micros{}) {
    const std::int64_t seconds = (wait.count + 999'999) / 1'000'000;
    return error_response(429,
                          fmt::format("that is too many submissions; come back in {} s, or submit "
                                      "an array",
                                      seconds),
                          seconds);
  }
  Result<control::Submit> parsed = parse_submission(request.body);
  if (!parsed) return error_response(400, parsed.error().message);
  if (parsed->spec.priority.value_or(0) > 0 && !caller.admin) {
    return error_response(403, fmt::format("a priority of {}; above 0 is for admins, others may "
                                           "lower theirs",
                                           *parsed->spec.priority));
  }
  parsed->ticket = ticket;
  parsed->owner = {caller.uid, caller.gid};  // whatever the body says
  if (parsed->spec.name.empty()) parsed->spec.name = "job";
  return Handled(std::in_place_type<control::Input>, *std::move(parsed));
}

Handled Service::drain(const Request& request, const Match& match, control::Ticket ticket) const {
  constexpr std::size_t kReasonBytesMax = 256;
  const std::size_t gpus = controller_.fleet().gpus().size();
  if (match.gpu >= gpus) {
    return error_response(404, fmt::format("there is no GPU {}; there are {}", match.gpu, gpus));
  }
  const bool drains = match.route->id == RouteId::kDrainGpu;
  const auto reason = unescaped(drains ? request.parameter("reason") : std::string_view());
  if (!reason) return error_response(400, "the reason has a % that begins no %XX");
  const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (reason->size() > kReasonBytesMax || std::ranges::any_of(*reason, control)) {
    return error_response(400, fmt::format("the reason has {} bytes; wanted one line of at most {}",
                                           reason->size(), kReasonBytesMax));
  }
  return Handled(control::Input(control::DrainGpu{ticket, GpuId{match.gpu}, drains, *reason}));
}

Response Service::response_to(const control::Reply& reply) const {
  switch (reply.kind) {
    case control::Reply::Kind::kAccepted:
    case control::Reply::Kind::kCancelled:
    case control::Reply::Kind::kDone: {
      Json json;
      json["jobs"] = json_of(reply.jobs);
      return json_response(json, reply.kind == control::Reply::Kind::kAccepted ? 201 : 200);
    }
    case control::Reply::Kind::kNotFound:
      return error_response(404, reply.message);
    case control::Reply::Kind::kConflict:
      return error_response(409, reply.message);
    case control::Reply::Kind::kRefused:
      return error_response(400, reply.message);
    case control::Reply::Kind::kForbidden:
      return error_response(403, reply.message);
    case control::Reply::Kind::kFull:
      return error_response(429, reply.message);
    case control::Reply::Kind::kNoSpace:
      return error_response(507, reply.message);
  }
  return error_response(500, "no answer");
}

Response Service::list_jobs(const Request& request, const Caller& caller) const {
  const std::string_view wanted = request.parameter("state");
  const bool active = wanted == "active";
  const auto state = control::job_state_of(wanted);
  if (!wanted.empty() && !active && !state) {
    return error_response(400,
                          "state is active, or one of queued, starting, running, restarting, "
                          "cancelling, done, failed, cancelled, lost");
  }
  const auto limit = parse_int(request.parameter("limit")).value_or(1'000);
  const auto most = static_cast<std::size_t>(
      std::clamp<std::int64_t>(limit, 1, static_cast<std::int64_t>(kListMax)));
  Json json;
  json["jobs"] = Json::array();
  // The latest first, since those are what one looks for.
  for (auto each = controller_.jobs().rbegin();
       each != controller_.jobs().rend() && json["jobs"].size() < most; ++each) {
    const Job& job = each->second;
    if (active && control::has_ended(job.state())) continue;
    if (state && job.state() != *state) continue;
    json["jobs"].push_back(owns(caller, job) ? json_of(control::own_view_of(job))
                                             : json_of(control::head_of(job)));
  }
  return json_response(json);
}

Response Service::output(const Request& request, const Job& job) const {
  const auto offset = parse_int(request.parameter("offset")).value_or(0);
  if (offset < 0) return error_response(400, "offset is a number of bytes from 0");
  Response response;
  response.type = "application/octet-stream";
  response.body = around_.output(job.id, static_cast<std::uint64_t>(offset), kOutputMax);
  response.headers.emplace_back("Partita-State", std::string(control::name_of(job.state())));
  return response;
}

Response Service::gpus(const Caller& caller) const {
  Json json;
  json["gpus"] = Json::array();
  const auto own = [&](const Job& job) { return owns(caller, job); };
  for (const control::GpuView& gpu : control::gpu_views_of(controller_, own)) {
    json["gpus"].push_back(json_of(gpu));
  }
  return json_response(json);
}

Response Service::status() const {
  StatusView view;
  view.version = around_.version;
  view.backend = around_.backend;
  view.policy = around_.policy;
  view.shadow = controller_.options().shadow;
  view.closed = around_.why_closed();
  view.jobs = control::counts_of(controller_);
  view.fragmentation = controller_.fragmentation().ratio();
  view.disk = around_.disk();
  return json_response(json_of(view));
}

std::optional<std::string> Service::event_text(const control::EventView& event,
                                               const Caller& caller) const {
  if (event.job) {
    const Job* job = controller_.find(*event.job);
    if (job == nullptr || !owns(caller, *job)) return {};
  }
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.sequence, event.kind,
                     text_of(json_of(event)));
}

}  // namespace partita::api
