#include "control/jobs/queue_gates.h"

#include <fmt/format.h>

#include <algorithm>
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

std::optional<QueueGates::LaneKey> QueueGates::lane_of(const Job& job) {
  if (job.array_job == kNoJob || !job.spec.array_limit) return {};
  return job.array_job;
}

void QueueGates::add(const Job& job) {
  // Those that run after it and have not begun wait for it again.
  if (const auto found = dependents_.find(job.id); found != dependents_.end()) {
    due_.insert(found->second.begin(), found->second.end());
  }
  for (const std::string& text : job.spec.after) {
    if (const auto dependency = parse_dependency(text)) {
      dependents_[dependency->job].insert(job.id);
    }
  }
  if (const auto key = lane_of(job)) {
    Lane& lane = lanes_[*key];
    lane.limit = static_cast<std::size_t>(*job.spec.array_limit);
    ++lane.members;
  }
}

void QueueGates::note_ended(Job& job) {
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
  stop_waiting(job);
  leave(job);
  if (const auto key = lane_of(job)) {
    if (--lanes_.at(*key).members == 0) lanes_.erase(*key);
  }
}

std::optional<QueueGates::Bar> QueueGates::bar_of(const JobTable& jobs, const Job& job) const {
  if (job.progress.held == store::Held::kByOwner) return Bar{"held by its owner"};
  if (job.progress.held == store::Held::kByAdmin) return Bar{"held by an admin"};
  if (auto bar = bar_of_dependencies(jobs, job)) return bar;
  if (job.admitted) return {};
  const auto key = lane_of(job);
  if (!key) return {};
  const Lane& lane = lanes_.at(*key);
  if (lane.admitted < lane.limit) return {};
  return Bar{fmt::format("of the array {} at most {} run at once", *key, lane.limit), false, key};
}

void QueueGates::note_admitted(Job& job) {
  stop_waiting(job);
  if (std::exchange(job.admitted, true)) return;
  if (const auto key = lane_of(job)) ++lanes_.at(*key).admitted;
}

void QueueGates::note_barred(Job& job, const Bar& bar) {
  stop_waiting(job);
  leave(job);
  if (!bar.lane) return;
  lanes_.at(*bar.lane).waiting.insert(rank_of(job));
  waits_in_[job.id] = *bar.lane;
}

void QueueGates::leave(Job& job) {
  if (!std::exchange(job.admitted, false)) return;
  const auto key = lane_of(job);
  if (!key) return;
  Lane& lane = lanes_.at(*key);
  --lane.admitted;
  offer(lane);
}

void QueueGates::stop_waiting(const Job& job) {
  const auto found = waits_in_.find(job.id);
  if (found == waits_in_.end()) return;
  Lane& lane = lanes_.at(found->second);
  lane.waiting.erase(rank_of(job));
  waits_in_.erase(found);
  offer(lane);  // what was room for it may be room for another
}

void QueueGates::offer(const Lane& lane) {
  std::size_t room = lane.limit - std::min(lane.limit, lane.admitted);
  for (auto each = lane.waiting.begin(); each != lane.waiting.end() && room > 0; ++each, --room) {
    due_.insert(each->second);
  }
}

std::vector<JobNumber> QueueGates::take_due() {
  const std::set<JobNumber> due = std::exchange(due_, {});
  return {due.begin(), due.end()};
}

}  // namespace partita::control
