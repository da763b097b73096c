// Job: one piece of work, and Trace: a list of them in order of arrival.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "workload/memory_curve.h"

namespace partita::workload {

// The slice sizes for which a job has a time: columns t1_s, t2_s, t3_s, t4_s, t7_s.
inline constexpr std::array<int, 5> kSliceSizes{1, 2, 3, 4, 7};
inline constexpr std::size_t kSliceSizeCount = kSliceSizes.size();

// Position of a number of compute slices in kSliceSizes.
constexpr std::optional<std::size_t> slice_size_index(int compute_slices) {
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
    if (kSliceSizes[i] == compute_slices) return i;
  }
  return {};
}

// The job may not run on slices of that size.
inline constexpr Micros kNoTime = Micros{-1};

using ClassIndex = std::uint16_t;

inline constexpr std::size_t kClassesMax = 65'536;      // what ClassIndex can tell apart
inline constexpr std::size_t kJobsMax = 4'000'000'000;  // what JobId can tell apart

struct Job {
  Micros arrival;
  Micros deadline;                             // soft; at or after the arrival
  std::array<Micros, kSliceSizeCount> time{};  // whole run on one slice of that size; or kNoTime
  // A slice with less cannot run it. Where the trace has a memory curve for the job this is only
  // what is believed at first.
  float memory_gib = 0;
  ClassIndex job_class = 0;  // index into Trace::class_names
  bool resumable = true;     // it can be interrupted and go on later where it stopped

  bool operator==(const Job&) const = default;
};

// Whose job it is, and how it ranks among others: higher priorities first.
struct JobOwner {
  std::uint32_t user = 0;  // index into Trace::user_names
  std::int32_t priority = 0;

  bool operator==(const JobOwner&) const = default;
};

inline constexpr std::size_t kUsersMax = 65'536;
inline constexpr std::int32_t kPriorityMost = 1'000'000;  // and the least is its negative

// Invariants: jobs are in order of arrival (ties in order of the source); every job has at least
// one time, all its times are positive, and its deadline is not before its arrival; there are no
// memory curves, or one a job; there are no owners, or one a job, and then user 0 is who owns the
// jobs of nobody in particular.
struct Trace {
  std::vector<Job> jobs;
  std::vector<std::string> class_names;
  std::vector<MemoryCurve> memory_curves;
  std::vector<JobOwner> owners;
  std::vector<std::string> user_names;

  // External ids, one after the other, to keep five million of them small.
  std::string_view id(JobId job) const;
  void add(const Job& job, std::string_view external_id);
  // The same with a memory curve. The jobs before it that had none get an empty one.
  void add(const Job& job, std::string_view external_id, const MemoryCurve& memory);

  // Of the job that was added last. The jobs before it that had no owner belong to user 0.
  void set_owner(JobOwner owner);

  // Adds the name when it is new. Looks through all names: for the few a person would write.
  // REQUIRES: fewer than kClassesMax names so far, or the name is known.
  ClassIndex class_index(std::string_view name);
  std::size_t memory_bytes() const;

  std::string id_text;
  std::vector<std::uint64_t> id_ends;
};

// Sorts by arrival, stably.
void sort_by_arrival(Trace& trace);

}  // namespace partita::workload
