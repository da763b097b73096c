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
      const bool failed = before->state() == JobState::kFailed;
      return QueueGates::Bar{fmt::format("job {}, which had to succeed first, {}{}", before->id,
                                         failed ? "" : "is ", name_of(before->state())),
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

std::vector<QueueGates::LaneKey> QueueGates::lanes_of(const Job& job) const {
  std::vector<LaneKey> lanes;
  if (job.array_job != kNoJob && job.spec.array_limit) {
    lanes.push_back({LaneKey::Kind::kArray, job.array_job.value});
  }
  for (const Quotas::Holder holder : quotas_.holders_of(job.owner)) {
    lanes.push_back({LaneKey::Kind::kQuota, holder});
  }
  return lanes;
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
  quotas_.add_job(job.owner);
  for (const LaneKey& key : lanes_of(job)) {
    Lane& lane = lanes_[key];
    const bool array = key.kind == LaneKey::Kind::kArray;
    lane.limit = array ? static_cast<std::size_t>(*job.spec.array_limit)
                       : quotas_.admitted_max(static_cast<Quotas::Holder>(key.id));
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
  wait_in(job, {}, 0);
  leave(job);
  quotas_.remove_job(job.owner);
  for (const LaneKey& key : lanes_of(job)) {
    if (--lanes_.at(key).members == 0) lanes_.erase(key);
  }
}

std::optional<QueueGates::Bar> QueueGates::bar_of(const JobTable& jobs, const Job& job,
                                                  std::uint16_t fits) const {
  if (job.progress.held == store::Held::kByOwner) return Bar{"held by its owner"};
  if (job.progress.held == store::Held::kByAdmin) return Bar{"held by an admin"};
  if (auto bar = bar_of_dependencies(jobs, job)) return bar;
  return bar_of_lanes(job, fits);
}

std::optional<QueueGates::Bar> QueueGates::bar_of_lanes(const Job& job, std::uint16_t fits) const {
  std::vector<LaneKey> before;
  std::uint16_t left = fits;
  for (const LaneKey& key : lanes_of(job)) {
    before.push_back(key);
    std::string why = why_not(key, job, fits, left);
    if (why.empty()) continue;
    const bool quota = key.kind == LaneKey::Kind::kQuota;
    return Bar{std::move(why), false, std::move(before), fits, quota};
  }
  return {};
}

std::string QueueGates::why_not(const LaneKey& key, const Job& job, std::uint16_t fits,
                                std::uint16_t& left) const {
  const Lane& lane = lanes_.at(key);
  const bool full = !job.admitted && lane.admitted.size() >= lane.limit;
  if (key.kind == LaneKey::Kind::kArray) {
    if (!full) return {};
    return fmt::format("of the array {} at most {} run at once", key.id, lane.limit);
  }
  const auto holder = static_cast<Quotas::Holder>(key.id);
  const std::uint16_t startable = quotas_.startable(holder);
  left &= startable;
  if ((fits & startable) == 0) return quotas_.account(holder).why_not(fits, quotas_.clock());
  if (left == 0) {
    return fmt::format("quota: {} has room only for slices that its user may not hold now",
                       quotas_.account(holder).title());
  }
  if (!full) return {};
  return fmt::format("quota: other jobs of {} come first", quotas_.account(holder).title());
}

void QueueGates::note_admitted(Job& job) {
  unlist(job);
  if (std::exchange(job.admitted, true)) return;
  for (const LaneKey& key : lanes_of(job)) lanes_.at(key).admitted.insert(job.id);
}

void QueueGates::note_barred(Job& job, const Bar& bar) {
  wait_in(job, bar.lanes, bar.fits);
  leave(job);
  for (const LaneKey& key : bar.lanes) {
    if (key.kind == LaneKey::Kind::kQuota) quotas_.note_wait(static_cast<Quotas::Holder>(key.id));
  }
}

void QueueGates::leave(Job& job) {
  if (!std::exchange(job.admitted, false)) return;
  for (const LaneKey& key : lanes_of(job)) {
    lanes_.at(key).admitted.erase(job.id);
    offer(key);
  }
}

// Where it waited and does not any more, what was room for it may be room for another.
void QueueGates::wait_in(const Job& job, const std::vector<LaneKey>& lanes, std::uint16_t fits) {
  std::vector<LaneKey> left;
  if (const auto found = waits_in_.find(job.id); found != waits_in_.end()) {
    if (found->second.lanes == lanes && found->second.fits == fits) return;
    left = found->second.lanes;
    unlist(job);
  }
  for (const LaneKey& key : lanes) {
    lanes_.at(key).waiting[listed_under(key, fits)].insert(rank_of(job));
    std::erase(left, key);
  }
  if (!lanes.empty()) waits_in_[job.id] = {lanes, fits};
  for (const LaneKey& key : left) offer(key);
}

void QueueGates::unlist(const Job& job) {
  const auto found = waits_in_.find(job.id);
  if (found == waits_in_.end()) return;
  for (const LaneKey& key : found->second.lanes) {
    Lane& lane = lanes_.at(key);
    const auto list = lane.waiting.find(listed_under(key, found->second.fits));
    list->second.erase(rank_of(job));
    if (list->second.empty()) lane.waiting.erase(list);
  }
  waits_in_.erase(found);
}

void QueueGates::offer(const LaneKey& key) {
  const Lane& lane = lanes_.at(key);
  const std::size_t room = lane.limit - std::min(lane.limit, lane.admitted.size());
  const bool quota = key.kind == LaneKey::Kind::kQuota;
  const std::uint16_t startable =
      quota ? quotas_.startable(static_cast<Quotas::Holder>(key.id)) : std::uint16_t{0};
  for (const auto& [fits, jobs] : lane.waiting) {
    if (quota && (fits & startable) == 0) continue;
    std::size_t left = room;
    for (auto each = jobs.begin(); each != jobs.end() && left > 0; ++each, --left) {
      due_.insert(each->second);
    }
  }
}

// Of those that are admitted, policies may know other profiles than they may start on.
void QueueGates::look_at_quotas() {
  if (!quotas_.any()) return;
  for (const Quotas::Holder holder : quotas_.take_changed_holders()) {
    const LaneKey key{LaneKey::Kind::kQuota, holder};
    const auto found = lanes_.find(key);
    if (found == lanes_.end()) continue;
    due_.insert(found->second.admitted.begin(), found->second.admitted.end());
    offer(key);
  }
}

std::vector<JobNumber> QueueGates::take_due() {
  const std::set<JobNumber> due = std::exchange(due_, {});
  return {due.begin(), due.end()};
}

}  // namespace partita::control
