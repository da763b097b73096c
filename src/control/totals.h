// Totals: what was counted since the store was made, by user; for figures that only ever grow.
//
// Jobs are forgotten after a while, so a count of those that are known would shrink. These rows are
// kept. What a name counts is said below; parts behind a dot are labels.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/jobs/job_table.h"
#include "mig/gpu_model.h"
#include "store/store.h"

namespace partita::control {

// Of what is no user's.
inline constexpr std::int64_t kNoUser = -1;

// Names are on disk.
inline constexpr std::string_view kJobsSubmitted = "submitted";
inline constexpr std::string_view kJobsEnded = "ended";             // .STATE
inline constexpr std::string_view kDeadlinesMissed = "late";        // of jobs that ended
inline constexpr std::string_view kRestarts = "restarts";           // .CAUSE
inline constexpr std::string_view kMemoryOuts = "out_of_memory";    // attempts
inline constexpr std::string_view kSliceSeconds = "slice_seconds";  // of ended attempts
inline constexpr std::string_view kEnergy = "energy_j";             // of ended attempts
inline constexpr std::string_view kWaits = "waits";                 // .BUCKET, as below
inline constexpr std::string_view kWaitSeconds = "wait_seconds";    // all waits added up
inline constexpr std::string_view kXids = "xids";                   // .GPU.NUMBER

// From submission to the first start; a wait is counted in the first bucket that is not below it,
// and in one more behind the last.
inline constexpr std::array<int, 10> kWaitBucketsSeconds{1,   5,    15,    60,    300,
                                                         900, 3600, 10800, 43200, 86400};

class Totals {
 public:
  using Key = std::pair<std::int64_t, std::string>;  // user, name

  void add(std::int64_t uid, std::string_view name, double amount = 1);
  void add(std::int64_t uid, std::string_view name, std::string_view label);

  void submitted(const Job& job);
  void began(const Job& job, Micros now);
  // Its latest attempt is over.
  void attempt_ended(const Job& job, const mig::GpuModel& model);
  // It waits again. REQUIRES: its state is the one before that.
  void restarted(const Job& job);
  void ended(const Job& job);
  // "GPU 0 Xid 43", "Xid 79: it needs a reset"; anything else is not counted.
  void reported(std::optional<GpuId> gpu, std::string_view text);

  const std::map<Key, double>& all() const { return values_; }

  // What the store holds; of one that is older than its table, what can be told from its jobs.
  void read(const std::vector<store::TotalRow>& rows, const JobTable& jobs,
            const mig::GpuModel& model);
  // Those that changed since the last call.
  std::vector<store::TotalRow> take_changed();

 private:
  void attempt_ended(const Job& job, const store::AttemptRow& attempt, const mig::GpuModel& model);
  void waited(const Job& job, Micros span);

  std::map<Key, double> values_;
  std::set<Key> changed_;
};

}  // namespace partita::control
