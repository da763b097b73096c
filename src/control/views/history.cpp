#include "control/views/history.h"

#include <algorithm>

namespace partita::control {
namespace {

// Of a profile that this GPU does not have any more nothing is known.
double compute_slices_of(const mig::GpuModel& model, std::string_view profile) {
  const auto found = std::ranges::find(model.profiles, profile, &mig::Profile::name);
  return found == model.profiles.end() ? 0 : found->compute_slices;
}

UsageView usage_of(const mig::GpuModel& model, const Job& job) {
  UsageView usage;
  usage.id = job.id;
  usage.uid = job.owner.uid;
  usage.name = job.spec.name;
  usage.state = name_of(job.state());
  usage.submitted = job.submitted;
  usage.ended = Micros{job.progress.changed_us};
  usage.attempts = static_cast<std::int64_t>(job.attempts.size());
  for (const store::AttemptRow& attempt : job.attempts) {
    usage.energy_j += attempt.energy_j;
    const Micros ran{std::max<std::int64_t>(0, attempt.ended_us - attempt.started_us)};
    usage.slice_s += ran.to_seconds() * compute_slices_of(model, attempt.profile);
  }
  return usage;
}

}  // namespace

HistoryView history_of(const Controller& controller, const HistoryQuery& query) {
  HistoryView view;
  if (const Job* oldest = controller.job_table().oldest_ended()) {
    view.kept_since = Micros{oldest->progress.changed_us};
  }
  std::size_t looked_at = 0;
  const auto& jobs = controller.jobs();
  for (auto each = jobs.upper_bound(query.after); each != jobs.end(); ++each) {
    if (looked_at++ == kHistoryScanMax || view.jobs.size() == query.rows_max) {
      view.next = std::prev(each)->first;
      return view;
    }
    const Job& job = each->second;
    const Micros changed{job.progress.changed_us};
    const bool wanted = has_ended(job.state()) && changed >= query.since && changed < query.until &&
                        (!query.uid || job.owner.uid == *query.uid);
    if (wanted) view.jobs.push_back(usage_of(controller.fleet().model(), job));
  }
  return view;
}

}  // namespace partita::control
