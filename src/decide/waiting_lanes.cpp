#include "decide/waiting_lanes.h"

#include <algorithm>

namespace partita::decide {

void WaitingLanes::clear() {
  entries_.clear();
  lanes_.clear();
}

WaitingLanes::Lane& WaitingLanes::find_lane(const View& view, JobHandle job) {
  const UsageBooks::Group group = books_ != nullptr ? books_->group_of(view, job) : 0;
  const std::uint16_t fits = view.jobs[job].fits;
  const auto found = std::ranges::find_if(
      lanes_, [&](const Lane& lane) { return lane.fits == fits && lane.group == group; });
  if (found != lanes_.end()) return *found;
  Lane& made = lanes_.emplace_back();
  made.group = group;
  made.fits = fits;
  return made;
}

WaitingLanes::Lane& WaitingLanes::add(const View& view, JobHandle job) {
  if (job.value >= entries_.size()) entries_.resize(std::size_t{job.value} * 2 + 16);
  remove(job);
  const ActiveJob& active = view.jobs[job];
  Lane& lane = find_lane(view, job);
  Entry& its = entries_[job.value];
  its.job = active.id;
  its.since = active.started ? view.now : active.arrival;
  its.lane = static_cast<std::uint32_t>(&lane - lanes_.data());
  list(job);
  return lane;
}

void WaitingLanes::remove(JobHandle job) {
  if (!waits(job)) return;
  if (!entries_[job.value].aside) unlist(job);
  entries_[job.value] = Entry{};
}

void WaitingLanes::set_aside(JobHandle job) {
  unlist(job);
  entries_[job.value].aside = true;
}

void WaitingLanes::put_back(JobHandle job) {
  entries_[job.value].aside = false;
  list(job);
}

// Nearly always as the last.
void WaitingLanes::list(JobHandle job) {
  Entry& its = entries_[job.value];
  Lane& lane = lanes_[its.lane];
  std::uint32_t after = lane.last;
  while (after != kNone && entries_[after].since > its.since) after = entries_[after].previous;
  its.previous = after;
  its.next = after == kNone ? lane.first : entries_[after].next;
  (its.previous == kNone ? lane.first : entries_[its.previous].next) = job.value;
  (its.next == kNone ? lane.last : entries_[its.next].previous) = job.value;
}

void WaitingLanes::unlist(JobHandle job) {
  const Entry& its = entries_[job.value];
  Lane& lane = lanes_[its.lane];
  (its.previous == kNone ? lane.first : entries_[its.previous].next) = its.next;
  (its.next == kNone ? lane.last : entries_[its.next].previous) = its.previous;
}

bool WaitingLanes::goes_first(JobHandle first, JobHandle second, Micros now) const {
  const Entry& a = entries_[first.value];
  const Entry& b = entries_[second.value];
  if (books_ != nullptr) {
    const auto group_a = lanes_[a.lane].group;
    const auto group_b = lanes_[b.lane].group;
    if (books_->before(group_a, group_b, now)) return true;
    if (books_->before(group_b, group_a, now)) return false;
  }
  return a.since != b.since ? a.since < b.since : a.job < b.job;
}

bool WaitingLanes::may_go(const Lane& lane, Micros now) const {
  if (books_ == nullptr) return true;
  const UserIndex user = books_->owner(lane.group).user;
  if (books_->below_share(user, now)) return true;
  return std::ranges::none_of(lanes_, [&](const Lane& other) {
    return other.first != kNone && books_->owner(other.group).user != user;
  });
}

}  // namespace partita::decide
