// QueueGates: which of the waiting jobs may start at all, before any policy is asked.
//
// A job that may not is barred: policies do not know of it, and its reason says what it waits for.
// Where so many jobs run at once, so many are admitted: those that run and those that policies may
// start. The others wait in a lane, and the next is looked at when one leaves. A job may be under
// several limits: of its array, its user and its group, in this order. It waits in the lane of the
// first that bars it and in those before, where it keeps its place; so a lane offers only as many
// as it has room for, whatever bars them behind it. Here stands who has to be looked at again;
// JobFlow does what follows. Nothing of it is written down: it follows from the jobs, and is made
// anew from them at a start.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/job_table.h"
#include "control/quotas/quotas.h"

namespace partita::control {

class QueueGates {
 public:
  // What limits how many run: an array, by its first job, or who has a quota.
  struct LaneKey {
    enum class Kind : std::uint8_t { kArray, kQuota };
    Kind kind = Kind::kArray;
    std::int64_t id = 0;

    auto operator<=>(const LaneKey&) const = default;
  };

  // Why a job may not start now.
  struct Bar {
    std::string reason;
    bool for_ever = false;            // it never will
    std::vector<LaneKey> lanes = {};  // in which it waits
    std::uint16_t fits = 0;           // as it was asked for
    bool quota = false;               // comes and goes often
  };

  // REQUIRES: the quotas outlive it.
  explicit QueueGates(Quotas& quotas) : quotas_(quotas) {}

  // The job has not ended; once for each, and again when it is queued after it had.
  void add(const Job& job);
  // It has.
  void note_ended(Job& job);

  // `fits`: the profiles that have the memory it needs; any where there are no quotas.
  std::optional<Bar> bar_of(const JobTable& jobs, const Job& job, std::uint16_t fits) const;
  // Policies are told of it, or not any more, for that reason.
  void note_admitted(Job& job);
  void note_barred(Job& job, const Bar& bar);

  // What quotas leave may have changed: those whom that concerns are to be looked at again.
  void look_at_quotas();
  // The jobs to look at again after what happened since the last call, in order of their numbers.
  std::vector<JobNumber> take_due();

 private:
  // Who is next in a lane: a higher priority, then a lower number.
  using Rank = std::pair<std::int64_t, JobNumber>;

  struct Lane {
    std::size_t limit = 0;
    std::size_t members = 0;       // that have not ended
    std::set<JobNumber> admitted;  // that run or that policies know of
    // By the profiles that fit them, since a quota may leave room for some only; 0 for arrays.
    std::map<std::uint16_t, std::set<Rank>> waiting;
  };
  struct Waits {
    std::vector<LaneKey> lanes;
    std::uint16_t fits = 0;
  };

  std::vector<LaneKey> lanes_of(const Job& job) const;
  static Rank rank_of(const Job& job) { return {-job.spec.priority.value_or(0), job.id}; }
  static std::uint16_t listed_under(const LaneKey& key, std::uint16_t fits) {
    return key.kind == LaneKey::Kind::kArray ? std::uint16_t{0} : fits;
  }
  std::optional<Bar> bar_of_lanes(const Job& job, std::uint16_t fits) const;
  // Empty: the lane has room for it. `left`: of what fits it, what all lanes up to this one leave.
  std::string why_not(const LaneKey& key, const Job& job, std::uint16_t fits,
                      std::uint16_t& left) const;
  void leave(Job& job);
  void wait_in(const Job& job, const std::vector<LaneKey>& lanes, std::uint16_t fits);
  void unlist(const Job& job);
  // The next of the lane are due, as many as there is room for.
  void offer(const LaneKey& key);

  Quotas& quotas_;
  std::map<JobNumber, std::set<JobNumber>> dependents_;  // by the job that they run after
  std::map<LaneKey, Lane> lanes_;
  std::map<JobNumber, Waits> waits_in_;
  std::set<JobNumber> due_;
};

}  // namespace partita::control
