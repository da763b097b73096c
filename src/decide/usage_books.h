// UsageBooks: whose jobs run where, as rates in a FairShare ledger, and which user is to go first.
//
// Who drives policies settles the books around every decision, so between two of them every user
// has a constant rate: the compute slices their jobs hold, or the watts these add to what the GPUs
// draw when idle (shared out by busy compute slices).
//
// Users who hold less than half again their share now go before those who hold more, and among them
// those who held the least of their share on average of late. The average makes good for the past;
// without the first rule somebody with no past could take everything until theirs is as long as
// that of the others.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "decide/fair_share.h"
#include "decide/queue_rules.h"
#include "decide/scheduler.h"

namespace partita::decide {

// Of what is on a slice or waits; nothing: it is no job, and nobody's. Must give the same answer as
// long as the job is there.
using OwnerOf = std::function<std::optional<Owner>(JobHandle handle, const ActiveJob& job)>;

class UsageBooks {
 public:
  // Jobs of one user and one priority: they queue together.
  using Group = std::uint32_t;

  // With FairOrder::kOff rates are slices, and only booked.
  UsageBooks(const QueueRules& rules, OwnerOf owner_of);

  FairShare& ledger() { return ledger_; }
  const FairShare& ledger() const { return ledger_; }
  FairOrder order() const { return order_; }

  // A run begins: nobody runs anything. What was used before stays.
  void begin(const View& view);

  // ---- groups

  Group group_of(const View& view, JobHandle job);
  const Owner& owner(Group group) const { return groups_[group]; }
  std::size_t groups() const { return groups_.size(); }
  // Whether the first group is to be served before the second.
  bool before(Group first, Group second, Micros now) const;

  // ---- rates

  // Books what ran until now, and goes on with what the cluster shows. `moves`: of a decision that
  // has been made but not carried out. One look at every slice.
  void settle(const View& view, std::span<const Move> moves = {});
  // The group gets the slice in the decision that is being made.
  void expect_start(const View& view, Group group, SliceId slice);

  // How many jobs of the group wait; users without jobs have no part in the shares.
  void set_waiting(Group group, std::size_t jobs);

  // What the user held on average of late, over their weight; 0 where usage does not matter.
  double level(UserIndex user, Micros now) const;
  // What a user's level is when each of those with jobs has just their share; as of the last
  // settling.
  double fair_level() const { return fair_level_; }
  // On average, and not far above it now. Always true where usage does not matter.
  bool below_share(UserIndex user, Micros now) const {
    return !by_usage() || (!holds_much(user) && level(user, now) < fair_level_);
  }

 private:
  static constexpr double kHeldMost = 1.5;  // of the share, before others go first

  struct Presence {
    std::size_t waiting = 0;
    double rate = 0;  // with the starts of the decision that is being made
  };

  bool by_usage() const {
    return order_ == FairOrder::kSliceSeconds || order_ == FairOrder::kJoules;
  }
  bool holds_much(UserIndex user) const;
  double capacity(const View& view) const;
  double weight_present() const;
  double rate_on(const View& view, const cluster::Slice& slice, int busy_compute) const;
  Presence& presence(UserIndex user);

  FairOrder order_;
  OwnerOf owner_of_;
  FairShare ledger_;
  std::vector<Owner> groups_;
  std::map<std::pair<std::int32_t, UserIndex>, Group> known_groups_;
  std::vector<std::size_t> waiting_;  // by group
  std::vector<Presence> present_;     // by user
  std::vector<double> rates_;         // by user, of one settling
  std::vector<JobHandle> occupants_;  // by slice
  std::vector<int> busy_;             // compute slices by GPU
  double fair_level_ = 0;
};

}  // namespace partita::decide
