#include "control/views/views.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/jobs/explain.h"

namespace partita::control {
namespace {

// By how much it missed its deadline when it ended; below 0: it did not. Of one that has not ended,
// what is known by its last change.
std::optional<double> late_seconds(const Job& job) {
  if (!job.spec.deadline) return {};
  const bool ran = has_ended(job.state()) && !job.attempts.empty();
  const Micros end{ran ? job.attempts.back().ended_us : job.progress.changed_us};
  return end.to_seconds() - job.spec.deadline->to_seconds();
}

std::string_view holder_name(Fleet::Holder holder) {
  switch (holder) {
    case Fleet::Holder::kNobody:
    case Fleet::Holder::kClaimed:
      return "partita";
    case Fleet::Holder::kForeign:
      return "foreign";
    case Fleet::Holder::kQuarantined:
      return "quarantined";
    case Fleet::Holder::kBlocked:
      return "blocked";
  }
  return "";
}

// What is not ours to use is shown to policies as busy, but nobody knows whether it is.
std::string_view slice_state(const cluster::Slice& slice, Fleet::Holder holder) {
  if (holder != Fleet::Holder::kNobody) return "held";
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
std::string_view gpu_state(const Controller& controller, GpuId gpu) {
  const Fleet& fleet = controller.fleet();
  if (fleet.usable(gpu)) return "usable";
  if (!fleet.blocked(gpu)) return "draining";
  return controller.devices().drained(gpu) ? "drained" : "out";
}

std::optional<std::uint32_t> gpu_index(const Fleet& fleet, const std::string& uuid) {
  const auto found = std::ranges::find(fleet.gpus(), uuid, &GpuFact::uuid);
  if (found == fleet.gpus().end()) return {};
  return static_cast<std::uint32_t>(found - fleet.gpus().begin());
}

std::string slice_of(const store::AttemptRow& attempt) {
  return fmt::format("{}:{}", attempt.profile, attempt.start);
}

template <typename Attempts>
void fill_head(const Controller& controller, const Job& job, JobHead<Attempts>& head) {
  head.id = job.id;
  head.state = name_of(job.state());
  head.uid = job.owner.uid;
  head.submitted = job.submitted;
  head.changed = Micros{job.progress.changed_us};
  if (!holds_slice(job.state())) return;
  head.gpu = gpu_index(controller.fleet(), job.attempt().gpu);
  head.slice = slice_of(job.attempt());
}

template <typename Attempts>
void fill_own(const Controller& controller, const Job& job, OwnJob<Attempts>& view) {
  fill_head(controller, job, view);
  view.reason = job.progress.reason;
  view.need_gib = job.progress.need_gib;
  view.spec = &job.spec;
  if (job.array_job == kNoJob) return;
  view.array_job = job.array_job;
  view.array_index = job.array_index;
}

SliceView view_of(const Controller& controller, GpuId gpu, mig::Placement placement,
                  const std::function<bool(const Job&)>& own) {
  const Fleet& fleet = controller.fleet();
  const cluster::SliceId id = cluster::slice_id(gpu, placement.start);
  const Job* job = controller.job_on(id);
  SliceView view;
  view.slice = mig::format_placement(fleet.model(), placement);
  view.uuid = fleet.instance(id).uuid;
  view.state = slice_state(fleet.cluster().slice(id), fleet.holder(id));
  view.holder = holder_name(fleet.holder(id));
  view.memory_gib = fleet.model().profiles[placement.profile].memory_gib;
  if (job != nullptr) view.job = job->id;
  if (job != nullptr && own(*job)) view.used_gib = job->trend.last_gib();
  return view;
}

}  // namespace

AttemptView view_of(const store::AttemptRow& attempt) {
  AttemptView view{.number = attempt.number,
                   .gpu = attempt.gpu,
                   .slice = slice_of(attempt),
                   .instance = attempt.instance,
                   .started = Micros{attempt.started_us},
                   .reason = attempt.reason,
                   .peak_gib = attempt.peak_gib,
                   .energy_j = attempt.energy_j};
  if (attempt.ended_us != 0) view.ended = Micros{attempt.ended_us};
  if (attempt.exit_code >= 0) view.exit_code = attempt.exit_code;
  if (attempt.signal != 0) view.signal = attempt.signal;
  return view;
}

EventView view_of(const store::EventRow& event) {
  EventView view{event.sequence, Micros{event.at_us}, {}, event.kind, event.text};
  if (event.job != kNoJob) view.job = event.job;
  return view;
}

std::vector<EventView> views_of(const std::vector<store::EventRow>& events) {
  std::vector<EventView> views;
  for (const store::EventRow& event : events) views.push_back(view_of(event));
  return views;
}

JobHead<> head_of(const Controller& controller, const Job& job) {
  JobHead<> head;
  fill_head(controller, job, head);
  head.attempts = job.progress.attempt;
  return head;
}

OwnJob<> own_view_of(const Controller& controller, const Job& job) {
  OwnJob<> view;
  fill_own(controller, job, view);
  view.attempts = job.progress.attempt;
  return view;
}

WholeJob whole_view_of(const Controller& controller, const Job& job,
                       std::vector<EventView> events) {
  WholeJob view;
  fill_own(controller, job, view);
  for (const store::AttemptRow& attempt : job.attempts) {
    view.attempts.push_back(view_of(attempt));
    view.energy_j += attempt.energy_j;
  }
  if (holds_slice(job.state())) view.used_gib = job.trend.last_gib();
  view.late_s = late_seconds(job);
  view.waits = why_waiting(controller, job);
  view.events = std::move(events);
  return view;
}

std::vector<GpuView> gpu_views_of(const Controller& controller,
                                  const std::function<bool(const Job&)>& own) {
  const Fleet& fleet = controller.fleet();
  std::vector<GpuView> views(fleet.gpus().size());
  for (std::uint32_t i = 0; i < views.size(); ++i) {
    const GpuId gpu{i};
    const GpuReading& reading = controller.devices().energy.reading(gpu);
    GpuView& view = views[i];
    view.gpu = i;
    view.uuid = fleet.gpus()[i].uuid;
    view.name = fleet.gpus()[i].name;
    view.state = gpu_state(controller, gpu);
    view.usable = fleet.usable(gpu);
    view.why_unusable = fleet.why_unusable(gpu);
    view.readable = view.usable || controller.devices().drained(gpu);
    if (reading.read && view.readable) view.power_w = reading.power_w;
    if (reading.read) view.energy_j = reading.energy_j;
    for (const mig::Placement placement : fleet.cluster().gpus[i].layout.instances()) {
      // What stands for a GPU that is out is no slice.
      const auto holder = fleet.holder(cluster::slice_id(gpu, placement.start));
      if (holder == Fleet::Holder::kBlocked) continue;
      view.slices.push_back(view_of(controller, gpu, placement, own));
    }
  }
  return views;
}

ShareView share_view_of(const Controller& controller) {
  const decide::QueueRules& rules = controller.options().queue;
  ShareView view{.measure = decide::name_of(rules.fair_share),
                 .half_life_s = rules.half_life.to_seconds(),
                 .users = {}};
  for (const UserShare& user : controller.users()) {
    view.users.push_back({user.uid, user.weight, user.usage, user.total, user.rate, user.level});
  }
  return view;
}

JobCounts counts_of(const Controller& controller) {
  JobCounts counts;
  for (std::size_t i = 0; i < kJobStates; ++i) {
    counts.by_state[i] = controller.count(static_cast<JobState>(i));
  }
  return counts;
}

double energy_of_attempt(const Job& job) {
  return job.attempts.back().energy_j;
}

}  // namespace partita::control
