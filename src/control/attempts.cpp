// The part of the controller that starts jobs, and says what follows from how they end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "control/controller.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;

constexpr std::string_view kLost = "lost: ";

// What frameworks say when an allocation on the device fails.
constexpr std::array<std::string_view, 6> kMemoryMessages{"out of memory",
                                                          "out_of_memory",
                                                          "cuda_error_out_of_memory",
                                                          "cudaerrormemoryallocation",
                                                          "resource_exhausted",
                                                          "cublas_status_alloc_failed"};
// A slice this full when its job failed was too small for it.
constexpr double kFullShare = 0.97;

// Nothing says when a job of unknown length ends: it is expected to go on for half as long as it
// has run. Further, and a job that grows slowly would be moved although it ends in time; less far,
// and little of its time would be saved.
constexpr double kUnknownLengthFactor = 1.5;

bool says_out_of_memory(const std::string& output) {
  const std::string text = lower(output);
  return std::ranges::any_of(kMemoryMessages, [&](std::string_view message) {
    return text.find(message) != std::string::npos;
  });
}

}  // namespace

void Controller::start(Job& job, SliceId slice) {
  const cluster::Slice& place = fleet_.cluster().slice(slice);
  const GpuId gpu = cluster::gpu_of(slice);
  const mig::Placement placement{place.profile, cluster::start_of(slice)};
  cluster::start_job(fleet_.cluster(), slice, job.handle);
  decide::ActiveJob& active = active_[job.handle];
  CHECK((active.fits >> place.profile & 1U) != 0);
  active.slice = slice;
  active.size_index = place.size_index;
  active.progress_from = now_ + std::exchange(active.restart, Micros{});
  const double takes = std::max(1.0, std::ceil(active.work * active.time[place.size_index]));
  active.finish = active.progress_from + Micros{static_cast<std::int64_t>(takes)};
  if (!active.started) active.first_start = now_;
  active.started = true;
  active.forget_on_time();

  if (!PLANTED(forget_attempt_number) || job.progress.attempt == 0) ++job.progress.attempt;
  job.trend = MemoryTrend{};
  const mig::Profile& profile = fleet_.model().profiles[place.profile];
  store::AttemptRow row;
  row.job = job.id;
  row.number = job.progress.attempt;
  row.state = static_cast<std::int64_t>(AttemptState::kIntended);
  row.gpu = fleet_.gpus()[gpu.value].uuid;
  row.instance = fleet_.instance(slice).uuid;
  row.profile = profile.name;
  row.start = placement.start;
  row.started_us = now_.count;
  job.attempts.push_back(std::move(row));
  touch_attempt(job);
  move_to(job, JobState::kStarting, fmt::format("on {}", place_name(gpu, placement)));
  event(job.id, "starting",
        fmt::format("attempt {} on {}, {:g} GiB", job.progress.attempt, place_name(gpu, placement),
                    profile.memory_gib));

  const launch::AttemptKey key{job.id, job.progress.attempt};
  launch::Start start{key,       job.spec.argv,      job.spec.environment, job.spec.directory,
                      job.owner, job.spec.checkpoint};
  start.time_limit = job.spec.time_limit.value_or(options_.limits.time_limit_max);
  start.environment.push_back("CUDA_VISIBLE_DEVICES=" + fleet_.instance(slice).uuid);
  start.environment.push_back(fmt::format("PARTITA_JOB={}", key.job));
  start.environment.push_back(fmt::format("PARTITA_ATTEMPT={}", key.number));
  intend("launch", launch::text_of(key));
  effect(Launch{std::move(start), fleet_.instance(slice)});
}

void Controller::take(const launch::Report& report) {
  const auto found = jobs_.find(report.key.job);
  const bool present = found != jobs_.end() && holds_slice(found->second.state()) &&
                       found->second.progress.attempt == report.key.number;
  if (!present) {  // of an attempt that is over
    if (report.kind != launch::Report::Kind::kStarted) effect(Forget{report.key});
    return;
  }
  Job& job = found->second;
  switch (report.kind) {
    case launch::Report::Kind::kStarted:
      return attempt_began(job, report);
    case launch::Report::Kind::kNotStarted:
      return attempt_did_not_begin(job, report);
    case launch::Report::Kind::kEnded:
      return attempt_ended(job, report);
    case launch::Report::Kind::kVanished:
      return attempt_vanished(job);
  }
}

void Controller::attempt_began(Job& job, const launch::Report& report) {
  store::AttemptRow& attempt = attempt_of(job);
  if (attempt.state != static_cast<std::int64_t>(AttemptState::kIntended)) return;
  const bool stopping = job.state() != JobState::kStarting;
  attempt.state =
      static_cast<std::int64_t>(stopping ? AttemptState::kStopping : AttemptState::kRunning);
  touch_attempt(job);
  met("launch", launch::text_of(report.key));
  if (stopping) return;
  event(job.id, "running", fmt::format("process {}", report.pid));
  move_to(job, JobState::kRunning, fmt::format("process {}", report.pid));
}

// The process is no more, or never was: the slice is free and the books of the attempt are closed.
// `ended`: when it was, where that is known; long ago, perhaps, if there was no daemon.
void Controller::close_attempt(Job& job, std::string reason, Micros ended) {
  store::AttemptRow& attempt = attempt_of(job);
  attempt.state = static_cast<std::int64_t>(AttemptState::kEnded);
  const std::int64_t least = std::min(attempt.started_us, now_.count);
  attempt.ended_us = ended == Micros{} ? now_.count : std::clamp(ended.count, least, now_.count);
  attempt.reason = std::move(reason);
  touch_attempt(job);
  const launch::AttemptKey key{job.id, attempt.number};
  met("launch", launch::text_of(key));
  met("stop", launch::text_of(key));
  effect(Forget{key});
  leave_slice(job);
}

// Policies think of the job as running until here.
void Controller::leave_slice(Job& job) {
  decide::ActiveJob& active = active_[job.handle];
  if (!active.slice.valid()) return;
  const SliceId slice = active.slice;
  scheduler_->job_withdrawn(view_, job.handle);
  cluster::stop_job(fleet_.cluster(), slice);
  active.slice = {};
  fleet_.note_change();
  pass_due_ = true;
  settle_unusable(cluster::gpu_of(slice));
}

void Controller::attempt_did_not_begin(Job& job, const launch::Report& report) {
  const bool impossible = !report.message.empty();
  const std::string why = impossible ? report.message : "never begun";
  close_attempt(job, why);
  if (job.state() == JobState::kCancelling) {
    return end(job, JobState::kCancelled, "before it began");
  }
  if (impossible && PLANTED(drop_job_on_launch_error)) return;
  if (impossible) return end(job, JobState::kFailed, why);
  if (job.progress.attempt >= options_.limits.attempts_max) {
    return end(job, JobState::kFailed, "none of its attempts could be begun");
  }
  event(job.id, "requeued", fmt::format("attempt {} was never begun", report.key.number));
  requeue(job, "its last attempt was never begun");
}

bool Controller::out_of_memory(const Job& job, const launch::Report& report) const {
  if (report.exit_code == 0 && report.signal == 0) return false;
  if (says_out_of_memory(report.message)) return true;
  if (job.state() == JobState::kRestarting)
    return false;  // we stopped it; a full slice says nothing
  const double capacity = capacity_of(job);
  return capacity > 0 && job.trend.last_gib() >= kFullShare * capacity;
}

void Controller::attempt_ended(Job& job, const launch::Report& report) {
  store::AttemptRow& attempt = attempt_of(job);
  attempt.exit_code = report.exit_code;
  attempt.signal = report.signal;
  attempt.peak_gib = std::max(attempt.peak_gib, job.trend.peak_gib());
  const bool good = report.exit_code == 0 && report.signal == 0;
  const bool memory = out_of_memory(job, report);
  const std::string how = report.signal != 0 ? fmt::format("signal {}", report.signal)
                                             : fmt::format("exit status {}", report.exit_code);
  const JobState before = job.state();
  if (good && before != JobState::kCancelling) {
    double& peak = peaks_[{job.owner.uid, job.spec.name}];
    peak = std::max(peak, attempt.peak_gib);
    turn_.batch.peaks.push_back({job.owner.uid, job.spec.name, peak});
    if (attempt.number == 1 && before == JobState::kRunning) {
      survival_.ended(age_of(job), active_[job.handle].fastest_time());
    }
  }
  close_attempt(job,
                report.over_time ? "time limit, " + how
                : memory         ? "out of memory, " + how
                                 : how,
                report.at);
  if (before == JobState::kCancelling) return end(job, JobState::kCancelled, how);
  if (report.over_time) {
    const Micros limit = job.spec.time_limit.value_or(options_.limits.time_limit_max);
    return end(job, JobState::kFailed,
               fmt::format("stopped at its time limit of {:g} s", limit.to_seconds()));
  }
  if (good && !PLANTED(restart_after_done)) return end(job, JobState::kDone, how);
  if (memory) return after_memory_out(job);
  if (good || before == JobState::kRestarting) {
    event(job.id, "requeued",
          fmt::format("attempt {} ended with {}; needs {:.2f} GiB", attempt.number, how,
                      job.progress.need_gib));
    return requeue(job, before == JobState::kRestarting ? job.progress.reason + "; to begin again"
                                                        : "to begin again");
  }
  end(job, JobState::kFailed, how);
}

// One size up, or the end where there is none.
void Controller::after_memory_out(Job& job) {
  job.work_left = 1;
  const store::AttemptRow& attempt = attempt_of(job);
  const Result<mig::ProfileIndex> profile = mig::parse_profile(fleet_.model(), attempt.profile);
  const double had = profile ? fleet_.model().profiles[*profile].memory_gib : 0;
  const std::optional<double> larger = next_larger(had);
  if (!larger || job.progress.attempt >= options_.limits.attempts_max) {
    return end(job, JobState::kFailed,
               larger ? "out of memory too often"
                      : fmt::format("out of memory on the largest slice, {:g} GiB", had));
  }
  job.progress.need_gib =
      PLANTED(shrink_after_memory_out) ? had / 2 : std::max(job.progress.need_gib, *larger);
  event(job.id, "out-of-memory",
        fmt::format("attempt {} outgrew {:g} GiB; begins again with {:g} GiB", attempt.number, had,
                    job.progress.need_gib));
  requeue(job, "out of memory; to begin again on a larger slice");
}

void Controller::attempt_vanished(Job& job) {
  lose(job, "its process vanished");
}

// REQUIRES: nothing of the attempt runs any more.
void Controller::lose(Job& job, const std::string& why) {
  close_attempt(job, std::string(kLost) + why);
  if (job.state() == JobState::kCancelling) return end(job, JobState::kCancelled, why);
  const auto losses = std::ranges::count_if(
      job.attempts, [](const store::AttemptRow& row) { return row.reason.starts_with(kLost); });
  if (losses > options_.limits.losses_max || job.progress.attempt >= options_.limits.attempts_max) {
    return end(job, JobState::kLost, why);
  }
  event(job.id, "requeued", fmt::format("{}; begins again", why));
  requeue(job, why);
}

void Controller::stop(Job& job, bool checkpoint) {
  store::AttemptRow& attempt = attempt_of(job);
  if (attempt.state == static_cast<std::int64_t>(AttemptState::kRunning)) {
    attempt.state = static_cast<std::int64_t>(AttemptState::kStopping);
    touch_attempt(job);
  }
  const launch::AttemptKey key{job.id, attempt.number};
  intend("stop", launch::text_of(key));
  effect(Stop{key, checkpoint && !job.spec.checkpoint.empty()});
}

// ---- memory

std::optional<double> Controller::next_larger(double gib) const {
  std::optional<double> next;
  const auto& profiles = fleet_.model().profiles;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (!offered(i) || profiles[i].memory_gib <= gib) continue;
    next = std::min(next.value_or(profiles[i].memory_gib), profiles[i].memory_gib);
  }
  return next;
}

double Controller::largest_gib() const {
  double largest = 0;
  while (const auto more = next_larger(largest)) largest = *more;
  return largest;
}

double Controller::capacity_of(const Job& job) const {
  if (!job.handle.valid() || !active_[job.handle].slice.valid()) return 0;
  return fleet_.model()
      .profiles[fleet_.cluster().slice(active_[job.handle].slice).profile]
      .memory_gib;
}

void Controller::watch_memory(Job& job, double used_gib) {
  store::AttemptRow& attempt = attempt_of(job);
  const double elapsed = (now_ - Micros{attempt.started_us}).to_seconds();
  if (elapsed <= 0) return;
  const decide::EarlyRestart rule = options_.early_restart.value_or(decide::EarlyRestart{});
  job.trend.add(elapsed, used_gib, rule);
  attempt.peak_gib = std::max(attempt.peak_gib, used_gib);
  if (!options_.early_restart || job.state() != JobState::kRunning) return;
  const decide::ActiveJob& active = active_[job.handle];
  const bool length_known = std::ranges::any_of(job.spec.times, [](const auto& t) { return !!t; });
  const double end =
      length_known ? active.time[active.size_index] / 1e6 : elapsed * kUnknownLengthFactor;
  // Little left to do, or it should have ended: not worth beginning again.
  if (end - elapsed <= options_.restart_cost.to_seconds() && length_known) return;
  const double capacity = capacity_of(job);
  const auto projected = job.trend.outgrows(capacity, end, rule);
  const auto larger = next_larger(capacity);
  if (!projected || !larger || job.progress.attempt >= options_.limits.attempts_max) return;
  restart_early(job, *projected, capacity);
}

void Controller::restart_early(Job& job, double projected_gib, double capacity_gib) {
  job.progress.need_gib = std::min(projected_gib, largest_gib());
  event(job.id, "early-restart",
        fmt::format("uses {:.2f} GiB and is projected to need {:.2f} of {:g} GiB: stopped before "
                    "it fails",
                    job.trend.last_gib(), projected_gib, capacity_gib));
  move_to(job, JobState::kRestarting, "its memory is projected to outgrow the slice");
  stop(job, true);
  if (PLANTED(requeue_before_exit)) {
    leave_slice(job);
    requeue(job, "early");
  }
}

}  // namespace partita::control
