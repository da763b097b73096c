#include "policies/schedulers/due_date_queue.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace partita::policies {
namespace {

bool never_slower_with_size(const std::array<std::int64_t, workload::kSliceSizeCount>& needs,
                            unsigned sizes) {
  std::int64_t smaller = std::numeric_limits<std::int64_t>::max();
  for (unsigned left = sizes; left != 0; left &= left - 1) {
    const std::int64_t need = needs[static_cast<std::size_t>(std::countr_zero(left))];
    if (need > smaller) return false;
    smaller = need;
  }
  return true;
}

}  // namespace

void DueDateQueue::begin(const mig::GpuModel& model) {
  profiles_ = ProfilesBySize(model);
  lanes_.clear();
  size_ = 0;
}

DueDateQueue::Lane& DueDateQueue::lane_of(std::uint16_t fits) {
  for (Lane& lane : lanes_) {
    if (lane.fits == fits) return lane;
  }
  lanes_.emplace_back();
  lanes_.back().fits = fits;
  return lanes_.back();
}

QueueEntry DueDateQueue::entry(JobHandle handle, std::size_t size) const {
  const Held& held = held_[handle.value];
  const bool late = (held.late >> size & 1U) != 0;
  return {late ? held.needs[size] : held.deadline, held.id, handle};
}

void DueDateQueue::insert(JobHandle handle, const decide::ActiveJob& job) {
  if (handle.value >= held_.size()) held_.resize(std::size_t{handle.value} * 2 + 16);
  Held& held = held_[handle.value];
  held.deadline = job.deadline.count;
  held.id = job.id;
  held.fits = job.fits;
  held.late = 0;
  Lane& lane = lane_of(job.fits);
  const unsigned sizes = profiles_.sizes_of(job.fits);
  for (unsigned left = sizes; left != 0; left &= left - 1) {
    const auto size = static_cast<std::size_t>(std::countr_zero(left));
    held.needs[size] = job.restart.count + std::llround(job.work * job.time[size]);
    lane.sizes[size].on_time.insert(entry(handle, size));
  }
  if (!never_slower_with_size(held.needs, sizes)) ++lane.not_monotone;
  ++lane.jobs;
  ++size_;
}

void DueDateQueue::erase(JobHandle handle) {
  const Held& held = held_[handle.value];
  Lane& lane = lane_of(held.fits);
  const unsigned sizes = profiles_.sizes_of(held.fits);
  for (unsigned left = sizes; left != 0; left &= left - 1) {
    const auto size = static_cast<std::size_t>(std::countr_zero(left));
    SizeLists& lists = lane.sizes[size];
    const bool late = (held.late >> size & 1U) != 0;
    (late ? lists.late : lists.on_time).erase(entry(handle, size));
  }
  if (!never_slower_with_size(held.needs, sizes)) --lane.not_monotone;
  --lane.jobs;
  --size_;
}

unsigned DueDateQueue::sizes_to_search(const Lane& lane, std::uint16_t profiles) const {
  const unsigned sizes = profiles_.sizes_of(profiles & lane.fits);
  return lane.not_monotone > 0 ? sizes : std::bit_floor(sizes);
}

void DueDateQueue::settle(SizeLists& lists, std::size_t size, Micros now, std::size_t count) {
  SortedBlocks::Position at = lists.on_time.begin();
  while (count > 0 && !lists.on_time.at_end(at)) {
    const JobHandle handle = lists.on_time[at].job;
    Held& held = held_[handle.value];
    if (now.count + held.needs[size] <= held.deadline) {
      lists.on_time.advance(at);
      --count;
      continue;
    }
    lists.on_time.erase_at(at);
    held.late = static_cast<std::uint8_t>(held.late | (1U << size));
    lists.late.insert(entry(handle, size));
  }
}

// A late job that still stands behind the first one on time comes after it: its key is above its
// deadline, which is not below the other's.
JobHandle DueDateQueue::first(Micros now, std::uint16_t profiles) {
  QueueEntry best{.key = std::numeric_limits<std::int64_t>::max(), .id = {}, .job = {}};
  const auto consider = [&](QueueEntry found) {
    if (!best.job.valid() || found.before(best)) best = found;
  };
  for (Lane& lane : lanes_) {
    if (lane.jobs == 0 || (lane.fits & profiles) == 0) continue;
    for (unsigned left = sizes_to_search(lane, profiles); left != 0; left &= left - 1) {
      const auto size = static_cast<std::size_t>(std::countr_zero(left));
      SizeLists& lists = lane.sizes[size];
      settle(lists, size, now, 1);
      if (!lists.on_time.empty()) consider(lists.on_time[lists.on_time.begin()]);
      if (lists.late.empty()) continue;
      QueueEntry late = lists.late[lists.late.begin()];
      late.key += now.count;
      consider(late);
    }
  }
  return best.job;
}

void DueDateQueue::list(Micros now, std::uint16_t profiles, std::size_t count,
                        std::vector<JobHandle>& jobs) {
  jobs.clear();
  cursors_.clear();
  ++listing_;
  for (Lane& lane : lanes_) {
    if (lane.jobs == 0 || (lane.fits & profiles) == 0) continue;
    for (unsigned left = sizes_to_search(lane, profiles); left != 0; left &= left - 1) {
      const auto size = static_cast<std::size_t>(std::countr_zero(left));
      SizeLists& lists = lane.sizes[size];
      settle(lists, size, now, count);
      cursors_.push_back({&lists, lists.on_time.begin(), lists.late.begin(), size});
    }
  }
  while (jobs.size() < count) {
    QueueEntry best;
    Cursor* of_best = nullptr;
    bool best_is_late = false;
    const auto consider = [&](const QueueEntry& found, Cursor& cursor, bool late) {
      if (of_best != nullptr && !found.before(best)) return;
      best = found;
      of_best = &cursor;
      best_is_late = late;
    };
    for (Cursor& cursor : cursors_) {
      const SizeLists& lists = *cursor.lists;
      if (!lists.on_time.at_end(cursor.on_time)) {
        consider(lists.on_time[cursor.on_time], cursor, false);
      }
      if (lists.late.at_end(cursor.late)) continue;
      QueueEntry late = lists.late[cursor.late];
      late.key += now.count;
      consider(late, cursor, true);
    }
    if (of_best == nullptr) return;
    if (best_is_late) {
      of_best->lists->late.advance(of_best->late);
    } else {
      of_best->lists->on_time.advance(of_best->on_time);
    }
    // With several sizes a job stands in several lists; the first time counts.
    Held& held = held_[best.job.value];
    if (held.listed == listing_) continue;
    held.listed = listing_;
    jobs.push_back(best.job);
  }
}

}  // namespace partita::policies
