#include "control/jobs/queue_gates.h"

#include <fmt/format.h>

#include <utility>

namespace partita::control {
namespace {

// Of dependencies that are known no more the store has forgotten how they ended. Whoever waited for
// one that failed was cancelled in the turn in which it did, so they ended as they had to.
std::optional<QueueGates::Bar> bar_of_dependencies(const JobTable& jobs, const Job& job) {
  std::optional<QueueGates::Bar> bar;
  std::size_t others = 0;
  for (const std::string& text : job.spec.after) {
    const auto dependency = parse_dependency(text);
    const Job* before = dependency ? jobs.find(dependency->job) : nullptr;
    if (before == nullptr) continue;
    const bool ended = has_ended(before->state());
    if (ended && (dependency->any || before->state() == JobState::kDone)) continue;
    if (ended) {
      return QueueGates::Bar{fmt::format("job {}, which had to succeed first, is {}", before->id,
                                         name_of(before->state())),
                             true};
    }
    if (bar) ++others;
    if (!bar) {
      bar = QueueGates::Bar{
          fmt::format("waits for job {} to {}", before->id, dependency->any ? "end" : "succeed")};
    }
  }
  if (others > 0) bar->reason += fmt::format(" and {} more to end", others);
  return bar;
}

}  // namespace

void QueueGates::add(const Job& job) {
  for (const std::string& text : job.spec.after) {
    if (const auto dependency = parse_dependency(text)) {
      dependents_[dependency->job].insert(job.id);
    }
  }
}

void QueueGates::note_ended(const Job& job) {
  for (const std::string& text : job.spec.after) {
    const auto dependency = parse_dependency(text);
    const auto found = dependency ? dependents_.find(dependency->job) : dependents_.end();
    if (found == dependents_.end()) continue;
    found->second.erase(job.id);
    if (found->second.empty()) dependents_.erase(found);
  }
  if (const auto found = dependents_.find(job.id); found != dependents_.end()) {
    due_.insert(found->second.begin(), found->second.end());
  }
}

std::optional<QueueGates::Bar> QueueGates::bar_of(const JobTable& jobs, const Job& job) const {
  if (job.progress.held == store::Held::kByOwner) return Bar{"held by its owner"};
  if (job.progress.held == store::Held::kByAdmin) return Bar{"held by an admin"};
  return bar_of_dependencies(jobs, job);
}

std::vector<JobNumber> QueueGates::take_due() {
  const std::set<JobNumber> due = std::exchange(due_, {});
  return {due.begin(), due.end()};
}

}  // namespace partita::control
