#include "api/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/job_list.h"
#include "api/record_json.h"
#include "api/submission.h"
#include "base/text.h"
#include "control/quotas/quota_view.h"

namespace partita::api {
namespace {

using control::Job;

constexpr std::uint32_t kNobody = 65534;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response json_response(const Json& json, int status = 200) {
  Response response;
  response.status = status;
  response.body = text_of(json);
  return response;
}

bool owns(const Caller& caller, const Job& job) {
  return caller.admin || caller.uid == job.owner.uid;
}

// A whole number of the query. Text that is none is refused: what was meant is not known.
Result<std::int64_t> number_of(const Request& request, std::string_view name, std::int64_t least,
                               std::int64_t most, std::int64_t otherwise) {
  const std::string_view text = request.parameter(name);
  if (text.empty()) return otherwise;
  const auto number = parse_int(text);
  if (number && *number >= least && *number <= most) return *number;
  return Error{fmt::format("{} is '{}'; wanted a whole number from {} to {}", name,
                           text.substr(0, 64), least, most)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// A text of the query, where %XX stands for a byte; empty when it is not there.
Result<std::string> text_of(const Request& request, std::string_view name) {
  const std::string_view text = request.parameter(name);
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Error{fmt::format("{} has a % that begins no %XX", name)};
    }
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

Result<JobFilter> filter_of(const Request& request, const decltype(Surroundings::uid_of)& uid_of) {
  const Result<std::string> state = text_of(request, "state");
  if (!state) return state.error();
  const Result<std::string> user = text_of(request, "user");
  if (!user) return user.error();
  const Result<std::string> name = text_of(request, "name");
  if (!name) return name.error();
  return parse_filter(*state, *user, *name, uid_of);
}

std::int64_t code_of(control::Refusal::Kind kind) {
  switch (kind) {
    case control::Refusal::Kind::kNotFound:
      return 404;
    case control::Refusal::Kind::kForbidden:
      return 403;
    case control::Refusal::Kind::kConflict:
      return 409;
  }
  return 400;
}

// Why the query is refused, if so. One that is misspelt would otherwise change what is answered
// without a word, and of one that is given twice only the first would count.
std::optional<Response> refuse_query(const Request& request, RouteId route) {
  if (request.query.empty()) return {};
  constexpr std::size_t kNameBytesShown = 64;
  const std::vector<std::string_view> known = query_names(route);
  std::vector<std::string_view> seen;
  for (const std::string_view part : split(request.query, '&')) {
    if (part.empty()) continue;
    const std::string_view name = part.substr(0, part.find('='));
    if (std::ranges::find(known, name) == known.end()) {
      return error_response(
          400,
          fmt::format("the parameter '{}' is unknown; {}{}", name.substr(0, kNameBytesShown),
                      known.empty() ? "this path takes none" : "known: ", fmt::join(known, ", ")));
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      return error_response(400, fmt::format("the parameter {} is given twice; wanted once", name));
    }
    seen.push_back(name);
  }
  return {};
}

Response wrong_method(const std::string& allowed) {
  Response response =
      error_response(405, fmt::format("this path does not take that method; it takes {}", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

// Why the caller does not get what was asked for, if so.
std::optional<Response> Service::refuse(const Match& match, const Caller& caller) const {
  if (match.route == nullptr) {
    return match.allowed.empty() ? error_response(404, "there is no such path")
                                 : wrong_method(match.allowed);
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
  if (may(*match.route, role)) return {};
  return error_response(403, of_job ? fmt::format("job {} belongs to somebody else", match.job)
                                    : "this is for admins");
}

Handled Service::handle(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  const Match match = match_route(request.method, request.path);
  if (auto refused = refuse(match, caller)) return *std::move(refused);
  if (auto refused = refuse_query(request, match.route->id)) return *std::move(refused);
  const Job* job = match.job == kNoJob ? nullptr : controller_.find(match.job);
  switch (match.route->id) {
    case RouteId::kSubmit:
      return submit(request, caller, ticket);
    case RouteId::kListJobs:
      return list_jobs(request, caller);
    case RouteId::kShowJob:
      return show_job(*job);
    case RouteId::kCancelJob:
      return Handled(control::Input(control::Cancel{ticket, match.job}));
    case RouteId::kCancelJobs:
      return cancel_jobs(request, caller, ticket);
    case RouteId::kHoldJob:
    case RouteId::kReleaseJob:
      return Handled(
          control::Input(control::Hold{ticket, match.job, match.route->id == RouteId::kHoldJob,
                                       caller.admin && caller.uid != job->owner.uid}));
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
      return share();
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
      return Response{200,
                      "application/json",
                      openapi_document(around_.version, controller_.options().limits),
                      {}};
    case RouteId::kHistory:
      return history(request, caller);
    case RouteId::kQuota:
      return quota(request, caller);
  }
  return error_response(404, "there is no such path");
}

std::optional<Response> Service::refuse_submitter(const Caller& caller) const {
  const std::string closed = around_.why_closed();
  if (!closed.empty()) return error_response(507, closed);
  if (caller.no_account) {
    return error_response(403,
                          "the token stands for nobody of this machine, so no job can run as it");
  }
  const bool nobody = around_.uid_min > 0 && caller.uid == kNobody;
  if (caller.uid < around_.uid_min || nobody) {
    return error_response(403, fmt::format("jobs of user {} are not run here: users below {} and "
                                           "nobody are the system's",
                                           caller.uid, around_.uid_min));
  }
  const Micros wait = caller.admin ? Micros{} : around_.wait_to_submit(caller.uid);
  if (wait <= Micros{}) return {};
  const std::int64_t seconds = (wait.count + 999'999) / 1'000'000;
  return error_response(429,
                        fmt::format("that is too many submissions; come back in {} s, or submit "
                                    "an array",
                                    seconds),
                        seconds);
}

Handled Service::submit(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  if (auto refused = refuse_submitter(caller)) return *std::move(refused);
  Result<control::Submit> parsed = parse_submission(request.body);
  if (!parsed) return error_response(400, parsed.error().message);
  if (parsed->spec.priority.value_or(0) > 0 && !caller.admin) {
    return error_response(403, fmt::format("a priority of {}; above 0 is for admins, others may "
                                           "lower theirs",
                                           *parsed->spec.priority));
  }
  parsed->ticket = ticket;
  parsed->owner = {caller.uid, caller.gid};  // whatever the body says
  control::JobSpec& spec = parsed->spec;
  if (spec.name.empty() && !spec.argv.empty()) {
    spec.name = control::name_of_program(spec.argv.front());
  }
  // One that is sent again may have been in time when it was first sent.
  const bool passed = spec.deadline && *spec.deadline <= around_.now();
  if (passed && controller_.job_table().with_key(parsed->owner, parsed->key) == nullptr) {
    return error_response(400,
                          fmt::format("deadline_s is {:.0f} and has passed; it is {:.0f} now",
                                      spec.deadline->to_seconds(), around_.now().to_seconds()));
  }
  return Handled(std::in_place_type<control::Input>, *std::move(parsed));
}

// What is asked for by what it has in common is what the caller has, and has not ended.
Handled Service::cancel_jobs(const Request& request, const Caller& caller,
                             control::Ticket ticket) const {
  Result<Cancellation> wanted = parse_cancellation(request.body);
  if (!wanted) return error_response(400, wanted.error().message);
  control::CancelJobs cancel{ticket, std::move(wanted->jobs), {}};
  if (!caller.admin) cancel.only_of = caller.uid;
  if (cancel.jobs.empty()) {
    const Result<JobFilter> filter =
        parse_filter(wanted->state.value_or(""), wanted->user.value_or(""),
                     wanted->name.value_or(""), around_.uid_of);
    if (!filter) return error_response(400, filter.error().message);
    for (const auto& [id, job] : controller_.jobs()) {
      const bool meant = !control::has_ended(job.state()) && owns(caller, job);
      if (meant && filter->takes(job)) cancel.jobs.push_back(id);
    }
  }
  return Handled(control::Input(std::move(cancel)));
}

Handled Service::drain(const Request& request, const Match& match, control::Ticket ticket) const {
  constexpr std::size_t kReasonBytesMax = 256;
  const std::size_t gpus = controller_.fleet().gpus().size();
  if (match.gpu >= gpus) {
    return error_response(404, fmt::format("there is no GPU {}; there are {}", match.gpu, gpus));
  }
  const bool drains = match.route->id == RouteId::kDrainGpu;
  const Result<std::string> reason = text_of(request, drains ? "reason" : "");
  if (!reason) return error_response(400, reason.error().message);
  const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (reason->size() > kReasonBytesMax) {
    return error_response(400, fmt::format("the reason has {} bytes; wanted one line of at most {}",
                                           reason->size(), kReasonBytesMax));
  }
  if (std::ranges::any_of(*reason, control)) {
    return error_response(400, "the reason has a control character; wanted one line of text");
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
    case control::Reply::Kind::kSomeCancelled: {
      Json json;
      json["jobs"] = json_of(reply.jobs);
      json["refused"] = Json::array();
      for (const control::Refusal& each : reply.refused) {
        json["refused"].push_back(json_of(RefusalView{each.job, code_of(each.kind), each.message}));
      }
      return json_response(json);
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
  const Result<JobFilter> filter = filter_of(request, around_.uid_of);
  if (!filter) return error_response(400, filter.error().message);
  const auto limit = number_of(request, "limit", 1, static_cast<std::int64_t>(kPageJobsMax),
                               static_cast<std::int64_t>(kPageJobsDefault));
  if (!limit) return error_response(400, limit.error().message);
  const std::string_view from = request.parameter("after");
  const std::optional<PageMark> after = parse_mark(from);
  if (!from.empty() && !after) {
    return error_response(400, "after is what `after` of the page before said");
  }
  // Names of others' jobs are not shown, so they cannot be asked for either.
  const auto may = [&](const Job& job) { return !filter->name || owns(caller, job); };
  const JobPage page = page_of(controller_, *filter, may, static_cast<std::size_t>(*limit), after);
  Json json;
  json["jobs"] = Json::array();
  for (const Job* job : page.jobs) {
    const std::string user = around_.user_name(job->owner.uid);
    if (owns(caller, *job)) {
      control::OwnJob<> view = control::own_view_of(controller_, *job);
      view.user = user;
      json["jobs"].push_back(json_of(view));
    } else {
      control::JobHead<> head = control::head_of(controller_, *job);
      head.user = user;
      json["jobs"].push_back(json_of(head));
    }
  }
  json["total"] = page.total;
  json["more"] = page.after.has_value();
  json["after"] = page.after ? Json(*page.after) : Json();
  return json_response(json);
}

Response Service::show_job(const Job& job) const {
  control::WholeJob view =
      control::whole_view_of(controller_, job, around_.events(job.id, kEventsShownMax));
  view.user = around_.user_name(job.owner.uid);
  return json_response(json_of(view));
}

Response Service::output(const Request& request, const Job& job) const {
  const auto offset = number_of(request, "offset", 0, kOffsetMax, 0);
  if (!offset) return error_response(400, offset.error().message);
  Response response;
  response.type = "application/octet-stream";
  response.body = around_.output(job.id, static_cast<std::uint64_t>(*offset), kOutputBytesMax);
  response.headers.emplace_back("Partita-State", std::string(control::name_of(job.state())));
  return response;
}

Response Service::gpus(const Caller& caller) const {
  Json json;
  json["gpus"] = Json::array();
  const auto own = [&](const Job& job) { return owns(caller, job); };
  for (control::GpuView& gpu : control::gpu_views_of(controller_, own)) {
    const device::BoardUse board = around_.board(GpuId{gpu.gpu});
    if (gpu.readable) {
      gpu.utilisation = board.utilisation;
      gpu.temperature_c = board.temperature_c;
      gpu.power_limit_w = board.power_limit_w;
    }
    json["gpus"].push_back(json_of(gpu));
  }
  return json_response(json);
}

Response Service::share() const {
  const control::ShareView shares = control::share_view_of(controller_);
  SharesView view{.measure = shares.measure, .half_life_s = shares.half_life_s, .users = {}};
  for (const control::UserShareView& each : shares.users) {
    view.users.push_back({each, around_.user_name(each.uid)});
  }
  return json_response(json_of(view));
}

Response Service::history(const Request& request, const Caller& caller) const {
  control::HistoryQuery query;
  const auto instant = [&](std::string_view name, Micros& value) {
    const std::string_view text = request.parameter(name);
    if (text.empty()) return true;
    const auto seconds = parse_double(text);
    constexpr double kSecondsMost = 1e11;
    const bool good = seconds && *seconds >= 0 && *seconds <= kSecondsMost;
    if (good) value = micros_from_seconds(*seconds);
    return good;
  };
  if (!instant("since", query.since) || !instant("until", query.until)) {
    return error_response(400, "since and until are seconds since 1970, from 0 to 1e11");
  }
  const auto limit = number_of(request, "limit", 1, static_cast<std::int64_t>(kPageJobsMax),
                               static_cast<std::int64_t>(kPageJobsDefault));
  if (!limit) return error_response(400, limit.error().message);
  const auto after = number_of(request, "after", 0, std::numeric_limits<std::int64_t>::max(), 0);
  if (!after) return error_response(400, after.error().message);
  query.after = JobNumber{*after};
  query.rows_max = static_cast<std::size_t>(*limit);
  if (!caller.admin) query.uid = caller.uid;
  return json_response(json_of(control::history_of(controller_, query)));
}

// Groups are those of the caller; which others a user is in is not known here.
Response Service::quota(const Request& request, const Caller& caller) const {
  const Result<std::string> user = text_of(request, "user");
  if (!user) return error_response(400, user.error().message);
  const Result<JobFilter> filter = parse_filter("", *user, "", around_.uid_of);
  if (!filter) return error_response(400, filter.error().message);
  const control::Quotas& quotas = controller_.quotas();
  const std::uint32_t uid = filter->uid.value_or(caller.uid);
  if (uid != caller.uid && !caller.admin) {
    return error_response(403, "quotas of other users are for admins");
  }
  const bool all = caller.admin && !filter->uid;
  std::vector<control::QuotaLine> lines = all ? quotas.lines() : quotas.lines_of({uid, caller.gid});
  std::erase_if(lines, [&](const control::QuotaLine& line) {
    return filter->uid && line.kind != control::QuotaHolder::kUser;
  });
  control::QuotaView view = control::view_of(quotas, lines);
  for (control::QuotaHolderView& holder : view.holders) {
    if (holder.name.empty()) holder.name = around_.user_name(holder.id);
  }
  return json_response(json_of(view));
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
  view.simulated = around_.simulated;
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
