// DueDateQueue: waiting jobs by modified due date on the slice to be filled.
//
// The key of a job for a slice of a size is max(deadline, now + time it needs there). It changes
// with time, but in one way only: a job is on time for a size and sorted by its deadline, or late
// for it and sorted by its time there, and goes from the first to the second once. So for every
// size there are two sorted lists, and finding the first of a million waiting jobs costs a few
// steps instead of a million keys.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policies/schedulers/job_queue.h"
#include "policies/schedulers/profiles_by_size.h"

namespace partita::policies {

class DueDateQueue {
 public:
  // Empty, for a fleet of this GPU.
  void begin(const mig::GpuModel& model);
  bool empty() const { return size_ == 0; }

  // `job` as it will wait; what it needs must not change until it is erased. Logarithmic for each
  // size the job may use.
  void insert(JobHandle handle, const decide::ActiveJob& job);
  // REQUIRES: it was inserted.
  void erase(JobHandle handle);

  // The job with the least key over the sizes of these profiles that fit it; ties in order of
  // arrival. Not valid when none fits.
  JobHandle first(Micros now, std::uint16_t profiles);
  // The first `count` in that order; replaces what `jobs` held.
  void list(Micros now, std::uint16_t profiles, std::size_t count, std::vector<JobHandle>& jobs);

 private:
  static constexpr std::size_t kSizes = workload::kSliceSizeCount;

  // A job as it was inserted.
  struct Held {
    std::array<std::int64_t, kSizes> needs{};  // microseconds on each size, with its restart
    std::int64_t deadline = 0;
    JobId id;
    std::uint16_t fits = 0;
    std::uint8_t late = 0;     // bit i: in the list of the late for size i
    std::uint32_t listed = 0;  // number of the last listing that has it
  };
  struct SizeLists {
    SortedBlocks on_time;  // by deadline; late ones may stand among them until they are reached
    SortedBlocks late;     // by time needed
  };
  // Jobs that fit the same profiles.
  struct Lane {
    std::uint16_t fits = 0;
    std::array<SizeLists, kSizes> sizes;
    std::size_t jobs = 0;
    std::size_t not_monotone = 0;  // jobs that are slower on some larger slice
  };
  // Where a listing stands in one pair of lists.
  struct Cursor {
    const SizeLists* lists = nullptr;
    SortedBlocks::Position on_time;
    SortedBlocks::Position late;
    std::size_t size = 0;
  };

  Lane& lane_of(std::uint16_t fits);
  // The sizes to look at for the least key over these profiles: all of them, or the largest where
  // that is the fastest for every job.
  unsigned sizes_to_search(const Lane& lane, std::uint16_t profiles) const;
  // Moves late jobs out of the way until the first `count` of the list are on time.
  void settle(SizeLists& lists, std::size_t size, Micros now, std::size_t count);
  QueueEntry entry(JobHandle handle, std::size_t size) const;

  ProfilesBySize profiles_;
  std::vector<Lane> lanes_;
  std::vector<Held> held_;  // by handle
  std::size_t size_ = 0;
  std::uint32_t listing_ = 0;
  std::vector<Cursor> cursors_;
};

}  // namespace partita::policies
