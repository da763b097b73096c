#include "api/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "control/jobs/explain.h"

namespace partita::api {
namespace {

using Json = nlohmann::ordered_json;
using control::Job;

constexpr std::uint32_t kNobody = 65534;
constexpr std::size_t kListMax = 10'000;
constexpr std::size_t kEventsMax = 1'000;
constexpr std::size_t kOutputMax = 1U << 20U;

Answer json_answer(const Json& json, int status = 200) {
  Answer answer;
  answer.status = status;
  answer.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return answer;
}

double seconds_of(std::int64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

Json or_null(bool there, double value) {
  return there ? Json(value) : Json();
}

// What anyone may see of a job.
Json summary(const Job& job, bool own) {
  Json json;
  json["id"] = job.id;
  json["state"] = control::name_of(job.state());
  json["uid"] = job.owner.uid;
  json["submitted_s"] = seconds_of(job.submitted.count);
  json["changed_s"] = seconds_of(job.progress.changed_us);
  json["attempts"] = job.progress.attempt;
  if (!own) return json;
  json["name"] = job.spec.name;
  json["reason"] = job.progress.reason;
  json["need_gib"] = job.progress.need_gib;
  json["argv"] = job.spec.argv;
  return json;
}

double energy_of(const Job& job) {
  double joules = 0;
  for (const store::AttemptRow& attempt : job.attempts) joules += attempt.energy_j;
  return joules;
}

Json attempt_json(const store::AttemptRow& attempt) {
  Json json;
  const bool ended = attempt.ended_us != 0;
  json["number"] = attempt.number;
  json["gpu"] = attempt.gpu;
  json["slice"] = fmt::format("{}:{}", attempt.profile, attempt.start);
  json["instance"] = attempt.instance;
  json["started_s"] = seconds_of(attempt.started_us);
  json["ended_s"] = or_null(ended, seconds_of(attempt.ended_us));
  json["exit_code"] = attempt.exit_code < 0 ? Json() : Json(attempt.exit_code);
  json["signal"] = attempt.signal == 0 ? Json() : Json(attempt.signal);
  json["reason"] = attempt.reason;
  json["peak_gib"] = attempt.peak_gib;
  json["energy_j_estimated"] = attempt.energy_j;
  return json;
}

// By how much it missed its deadline when it ended; below 0: it did not. Of one that has not ended,
// what is known by its last change.
double late_seconds(const Job& job) {
  const bool ran = control::has_ended(job.state()) && !job.attempts.empty();
  const std::int64_t end = ran ? job.attempts.back().ended_us : job.progress.changed_us;
  return seconds_of(end) - job.spec.deadline.value_or(Micros{}).to_seconds();
}

Json event_json(const store::EventRow& event) {
  Json json;
  json["sequence"] = event.sequence;
  json["at_s"] = seconds_of(event.at_us);
  json["job"] = event.job == 0 ? Json() : Json(event.job);
  json["kind"] = event.kind;
  json["text"] = event.text;
  return json;
}

const char* holder_name(control::Fleet::Holder holder) {
  switch (holder) {
    case control::Fleet::Holder::kNobody:
      return "partita";
    case control::Fleet::Holder::kForeign:
      return "foreign";
    case control::Fleet::Holder::kQuarantined:
      return "quarantined";
    case control::Fleet::Holder::kBlocked:
      return "blocked";
    case control::Fleet::Holder::kClaimed:
      return "partita";
  }
  return "";
}

// What is not ours to use is shown to policies as busy, but nobody knows whether it is.
const char* slice_state(const cluster::Slice& slice, control::Fleet::Holder holder) {
  if (holder != control::Fleet::Holder::kNobody) return "held";
  switch (slice.state) {
    case cluster::SliceState::kAbsent:
      return "absent";
    case cluster::SliceState::kIdle:
      return "idle";
    case cluster::SliceState::kBusy:
      return "busy";
    case cluster::SliceState::kCreating:
      return "creating";
    case cluster::SliceState::kDestroying:
      return "destroying";
  }
  return "";
}

// "draining": it takes no job, and those it has are ending or being stopped.
const char* gpu_state(const control::Fleet& fleet, GpuId gpu) {
  if (fleet.usable(gpu)) return "usable";
  return fleet.blocked(gpu) ? "out" : "draining";
}

bool owns(const Caller& caller, const Job& job) {
  return caller.admin || caller.uid == job.owner.uid;
}

}  // namespace

Handled Service::handle(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  const Match match = match_route(request.method, request.path);
  if (match.route == nullptr) {
    return match.wrong_method ? error_answer(405, "this path does not take that method")
                              : error_answer(404, "there is no such path");
  }
  if (caller.scope < match.route->scope) {
    return error_answer(403, fmt::format("this takes a token of scope {}, and the one shown has {}",
                                         name_of(match.route->scope), name_of(caller.scope)));
  }
  const bool of_job = match.id != 0;
  const Job* job = of_job ? controller_.find(match.id) : nullptr;
  if (of_job && job == nullptr) {
    return error_answer(404, fmt::format("there is no job {}", match.id));
  }
  const bool owner = job != nullptr && caller.uid == job->owner.uid;
  const Role role = caller.admin ? Role::kAdmin : owner ? Role::kOwner : Role::kUser;
  if (!may(*match.route, role)) {
    return error_answer(403, fmt::format("job {} belongs to somebody else", match.id));
  }
  switch (match.route->id) {
    case RouteId::kSubmit:
      return submit(request, caller, ticket);
    case RouteId::kListJobs:
      return list_jobs(request, caller);
    case RouteId::kShowJob:
      return show_job(*job);
    case RouteId::kCancelJob:
      return Handled(control::Input(control::Cancel{ticket, match.id}));
    case RouteId::kJobOutput:
      return output(request, *job);
    case RouteId::kGpus:
      return gpus(caller);
    case RouteId::kStatus:
      return status();
    case RouteId::kEvents: {
      Answer answer;
      answer.type = "text/event-stream";
      answer.stream = true;
      answer.body = ": follows\n\n";
      return answer;
    }
    case RouteId::kMetrics: {
      Answer answer;
      answer.type = "text/plain; version=0.0.4";
      answer.body = metrics_text(controller_, around_);
      return answer;
    }
    case RouteId::kOpenApi: {
      Answer answer;
      answer.body = openapi_document(around_.version);
      return answer;
    }
  }
  return error_answer(404, "there is no such path");
}

Handled Service::submit(const Request& request, const Caller& caller,
                        control::Ticket ticket) const {
  const std::string closed = around_.why_closed();
  if (!closed.empty()) return error_answer(503, closed);
  const bool nobody = around_.uid_min > 0 && caller.uid == kNobody;
  if (caller.uid < around_.uid_min || nobody) {
    return error_answer(403, fmt::format("jobs of user {} are not run here: users below {} and "
                                         "nobody are the system's",
                                         caller.uid, around_.uid_min));
  }
  const Micros wait = caller.admin ? Micros{} : around_.wait_to_submit(caller.uid);
  if (wait > Micros{}) {
    const std::int64_t seconds = (wait.count + 999'999) / 1'000'000;
    return error_answer(429,
                        fmt::format("that is too many submissions; come back in {} s, or submit "
                                    "an array",
                                    seconds),
                        seconds);
  }
  Result<control::Submit> parsed = parse_submission(request.body);
  if (!parsed) return error_answer(400, parsed.error().message);
  parsed->ticket = ticket;
  parsed->owner = {caller.uid, caller.gid};  // whatever the body says
  if (parsed->spec.name.empty()) parsed->spec.name = "job";
  return Handled(std::in_place_type<control::Input>, *std::move(parsed));
}

Answer Service::answer_to(const control::Reply& reply) const {
  switch (reply.kind) {
    case control::Reply::Kind::kAccepted:
    case control::Reply::Kind::kCancelled: {
      Json json;
      json["jobs"] = reply.jobs;
      return json_answer(json, reply.kind == control::Reply::Kind::kAccepted ? 201 : 200);
    }
    case control::Reply::Kind::kNotFound:
      return error_answer(404, reply.message);
    case control::Reply::Kind::kConflict:
      return error_answer(409, reply.message);
    case control::Reply::Kind::kRefused:
      return error_answer(400, reply.message);
    case control::Reply::Kind::kFull:
      return error_answer(429, reply.message);
  }
  return error_answer(500, "no answer");
}

Answer Service::list_jobs(const Request& request, const Caller& caller) const {
  const std::string_view wanted = request.parameter("state");
  const bool active = wanted == "active";
  const auto state = control::job_state_of(wanted);
  if (!wanted.empty() && !active && !state) {
    return error_answer(400,
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
    json["jobs"].push_back(summary(job, owns(caller, job)));
  }
  return json_answer(json);
}

Answer Service::show_job(const Job& job) const {
  Json json = summary(job, true);
  json["memory_gib"] = job.spec.memory_gib ? Json(*job.spec.memory_gib) : Json("auto");
  json["used_gib"] = or_null(control::holds_slice(job.state()), job.trend.last_gib());
  json["deadline_s"] =
      or_null(job.spec.deadline.has_value(), job.spec.deadline.value_or(Micros{}).to_seconds());
  json["late_s"] = or_null(job.spec.deadline.has_value(), late_seconds(job));
  json["time_limit_s"] =
      or_null(job.spec.time_limit.has_value(), job.spec.time_limit.value_or(Micros{}).to_seconds());
  json["times_s"] = Json::object();
  for (std::size_t i = 0; i < job.spec.times.size(); ++i) {
    if (!job.spec.times[i]) continue;
    json["times_s"][std::to_string(workload::kSliceSizes[i])] = job.spec.times[i]->to_seconds();
  }
  json["checkpoint"] = job.spec.checkpoint;
  json["directory"] = job.spec.directory;
  json["energy_j_estimated"] = energy_of(job);
  json["waits"] = control::why_waiting(controller_, job);
  json["attempts"] = Json::array();
  for (const store::AttemptRow& attempt : job.attempts) {
    json["attempts"].push_back(attempt_json(attempt));
  }
  json["events"] = Json::array();
  for (const store::EventRow& event : around_.events(job.id, kEventsMax)) {
    json["events"].push_back(event_json(event));
  }
  return json_answer(json);
}

Answer Service::output(const Request& request, const Job& job) const {
  const auto offset = parse_int(request.parameter("offset")).value_or(0);
  if (offset < 0) return error_answer(400, "offset is a number of bytes from 0");
  Answer answer;
  answer.type = "application/octet-stream";
  answer.body = around_.output(job.id, static_cast<std::uint64_t>(offset), kOutputMax);
  answer.headers.emplace_back("Partita-State", std::string(control::name_of(job.state())));
  return answer;
}

Answer Service::gpus(const Caller& caller) const {
  const control::Fleet& fleet = controller_.fleet();
  Json json;
  json["gpus"] = Json::array();
  for (std::uint32_t i = 0; i < fleet.gpus().size(); ++i) {
    const control::GpuReading& reading = controller_.reading(GpuId{i});
    Json gpu;
    gpu["gpu"] = i;
    gpu["uuid"] = fleet.gpus()[i].uuid;
    gpu["name"] = fleet.gpus()[i].name;
    gpu["state"] = gpu_state(fleet, GpuId{i});
    gpu["usable"] = fleet.usable(GpuId{i});
    gpu["why_unusable"] = fleet.why_unusable(GpuId{i});
    gpu["power_w"] = or_null(reading.read && fleet.usable(GpuId{i}), reading.power_w);
    gpu["energy_j"] = or_null(reading.read, reading.energy_j);
    gpu["slices"] = Json::array();
    for (const mig::Placement placement : fleet.cluster().gpus[i].layout.instances()) {
      const cluster::SliceId id = cluster::slice_id(GpuId{i}, placement.start);
      // What stands for a GPU that is out is no slice.
      if (fleet.holder(id) == control::Fleet::Holder::kBlocked) continue;
      const Job* job = controller_.job_on(id);
      Json slice;
      slice["slice"] = mig::format_placement(fleet.model(), placement);
      slice["uuid"] = fleet.instance(id).uuid;
      slice["state"] = slice_state(fleet.cluster().slice(id), fleet.holder(id));
      slice["holder"] = holder_name(fleet.holder(id));
      slice["memory_gib"] = fleet.model().profiles[placement.profile].memory_gib;
      slice["job"] = job == nullptr ? Json() : Json(job->id);
      slice["used_gib"] =
          or_null(job != nullptr && owns(caller, *job), job == nullptr ? 0 : job->trend.last_gib());
      gpu["slices"].push_back(std::move(slice));
    }
    json["gpus"].push_back(std::move(gpu));
  }
  return json_answer(json);
}

Answer Service::status() const {
  Json json;
  json["version"] = around_.version;
  json["backend"] = around_.backend;
  json["policy"] = around_.policy;
  json["shadow"] = controller_.options().shadow;
  json["closed"] = around_.why_closed();
  for (std::size_t i = 0; i < control::kJobStates; ++i) {
    const auto state = static_cast<control::JobState>(i);
    json["jobs"][std::string(control::name_of(state))] = controller_.count(state);
  }
  json["fragmentation"] = controller_.fragmentation().ratio();
  return json_answer(json);
}

std::optional<std::string> Service::event_text(const store::EventRow& event,
                                               const Caller& caller) const {
  if (event.job != 0) {
    const Job* job = controller_.find(event.job);
    if (job == nullptr || !owns(caller, *job)) return {};
  }
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.sequence, event.kind,
                     event_json(event).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace partita::api
