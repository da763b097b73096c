#include "control/totals.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "control/quotas/quotas.h"

namespace partita::control {
namespace {

std::string_view cause_name(store::StopCause cause) {
  switch (cause) {
    case store::StopCause::kNone:
      return "none";
    case store::StopCause::kPreempted:
      return "preempted";
    case store::StopCause::kMemory:
      return "memory_projected";
    case store::StopCause::kDevice:
      return "device";
    case store::StopCause::kRequeued:
      return "requested";
  }
  return "none";
}

// Why a job that was not stopped by us begins again.
std::string_view cause_name(store::AttemptOutcome outcome) {
  switch (outcome) {
    case store::AttemptOutcome::kOutOfMemory:
      return "out_of_memory";
    case store::AttemptOutcome::kLost:
      return "lost";
    case store::AttemptOutcome::kNotStarted:
      return "not_started";
    default:
      return "none";
  }
}

int compute_slices_of(const store::AttemptRow& attempt, const mig::GpuModel& model) {
  const Result<mig::ProfileIndex> profile = mig::parse_profile(model, attempt.profile);
  return profile ? model.profiles[*profile].compute_slices : 0;
}

bool is_late(const Job& job) {
  if (!job.spec.deadline || job.state() == JobState::kCancelled) return false;
  const Micros end{job.attempts.empty() ? job.progress.changed_us : job.attempts.back().ended_us};
  return end > *job.spec.deadline;
}

}  // namespace

void Totals::add(std::int64_t uid, std::string_view name, double amount) {
  if (amount <= 0) return;  // they only grow
  const auto found = values_.try_emplace({uid, std::string(name)}, 0).first;
  found->second += amount;
  changed_.insert(found->first);
}

void Totals::add(std::int64_t uid, std::string_view name, std::string_view label) {
  add(uid, fmt::format("{}.{}", name, label));
}

void Totals::submitted(const Job& job) {
  add(job.owner.uid, kJobsSubmitted);
}

void Totals::waited(const Job& job, Micros span) {
  const double seconds = std::max(0.0, span.to_seconds());
  const auto bucket = std::ranges::lower_bound(kWaitBucketsSeconds, seconds);
  add(job.owner.uid, kWaits, std::to_string(bucket - kWaitBucketsSeconds.begin()));
  add(job.owner.uid, kWaitSeconds, seconds);
}

void Totals::began(const Job& job, Micros now) {
  if (job.progress.attempt == 1) waited(job, now - job.submitted);
}

void Totals::attempt_ended(const Job& job, const mig::GpuModel& model) {
  attempt_ended(job, job.attempt(), model);
}

void Totals::attempt_ended(const Job& job, const store::AttemptRow& attempt,
                           const mig::GpuModel& model) {
  const double seconds = Micros{attempt.ended_us - attempt.started_us}.to_seconds();
  add(job.owner.uid, kSliceSeconds, seconds * compute_slices_of(attempt, model));
  add(job.owner.uid, kEnergy, attempt.energy_j);
  if (attempt.outcome == store::AttemptOutcome::kOutOfMemory) add(job.owner.uid, kMemoryOuts);
}

void Totals::restarted(const Job& job) {
  const bool stopped = job.state() == JobState::kRestarting;
  const auto outcome = job.attempt().outcome;
  const bool memory = outcome == store::AttemptOutcome::kOutOfMemory;
  add(job.owner.uid, kRestarts,
      stopped && !memory ? cause_name(job.progress.stop_cause) : cause_name(outcome));
}

void Totals::ended(const Job& job) {
  add(job.owner.uid, kJobsEnded, name_of(job.state()));
  if (is_late(job)) add(job.owner.uid, kDeadlinesMissed);
}

void Totals::reported(std::optional<GpuId> gpu, std::string_view text) {
  constexpr std::string_view kGpu = "GPU ";
  constexpr std::string_view kXid = "Xid ";
  const auto number_at = [&](std::size_t at) {
    std::size_t size = 0;
    while (at + size < text.size() && text[at + size] >= '0' && text[at + size] <= '9') ++size;
    return parse_int(text.substr(at, size));
  };
  const auto at = text.find(kXid);
  if (at == std::string_view::npos) return;
  const auto xid = number_at(at + kXid.size());
  const auto named = gpu                      ? std::optional<std::int64_t>(gpu->value)
                     : text.starts_with(kGpu) ? number_at(kGpu.size())
                                              : std::nullopt;
  if (xid && named) add(kNoUser, kXids, fmt::format("{}.{}", *named, *xid));
}

void Totals::read(const std::vector<store::TotalRow>& rows, const JobTable& jobs,
                  const mig::GpuModel& model) {
  for (const store::TotalRow& row : rows) {
    if (!Quotas::is_quota_row(row)) values_[{row.uid, row.name}] = row.value;
  }
  if (!rows.empty()) return;
  for (const auto& [id, job] : jobs.all()) {
    submitted(job);
    for (const store::AttemptRow& attempt : job.attempts) {
      if (attempt.number == 1) waited(job, Micros{attempt.started_us} - job.submitted);
      if (attempt.ended_us != 0) attempt_ended(job, attempt, model);
    }
    if (has_ended(job.state())) ended(job);
  }
}

std::vector<store::TotalRow> Totals::take_changed() {
  std::vector<store::TotalRow> rows;
  for (const Key& key : changed_) rows.push_back({key.first, key.second, values_.at(key)});
  changed_.clear();
  return rows;
}

}  // namespace partita::control
