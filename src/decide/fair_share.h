// FairShare: who has used how much of the fleet, where what is long ago counts less.
//
// A ledger and nothing else: it is told at which rate each user's jobs use the fleet, from when on,
// and answers with sums in which every second counts half as much as one a half-life later. Rates
// are compute slices (the sums are slice-seconds) or watts (joules). No clock is read, and the
// same calls give the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "workload/job.h"

namespace partita::decide {

using UserIndex = std::uint32_t;  // into a table of names that somebody else keeps

using Owner = workload::JobOwner;

enum class ShareMeasure : std::uint8_t { kSliceSeconds, kJoules };

// What is worth keeping of one user, at one instant: what a store writes down and restore() reads.
struct UsageRow {
  UserIndex user = 0;
  double usage = 0;  // decayed
  double total = 0;  // not decayed
  Micros at;

  bool operator==(const UsageRow&) const = default;
};

class FairShare {
 public:
  static constexpr Micros kHalfLifeDefault = Micros::seconds(24 * 3600);

  // REQUIRES: a half-life above 0.
  explicit FairShare(Micros half_life = kHalfLifeDefault);

  Micros half_life() const { return half_life_; }

  // Users have equal shares until told otherwise. REQUIRES: finite and above 0.
  void set_weight(UserIndex user, double weight);
  double weight(UserIndex user) const { return user < users_.size() ? users_[user].weight : 1; }

  // From `now` on the user's jobs use so much a second. Time never goes back for a user.
  void set_rate(UserIndex user, double per_second, Micros now);
  double rate(UserIndex user) const { return user < users_.size() ? users_[user].rate : 0; }
  // The user has used so much, just now.
  void add(UserIndex user, double amount, Micros now);

  double usage(UserIndex user, Micros now) const;
  double total(UserIndex user, Micros now) const;
  // The rate that would have led to this usage if it had always been the same.
  double mean_rate(UserIndex user, Micros now) const;

  // One more than the highest user who was ever named.
  UserIndex users_end() const { return static_cast<UserIndex>(users_.size()); }

  // Those who have used anything, in order of their index.
  std::vector<UsageRow> rows(Micros now) const;
  // Goes on from such rows: usage and totals are theirs, rates 0. Weights stay.
  void restore(std::span<const UsageRow> rows);
  // Nobody has used anything. Weights stay.
  void clear();

 private:
  struct User {
    double usage = 0;  // at `at`
    double total = 0;
    double rate = 0;  // since `at`
    double weight = 1;
    Micros at;
  };

  User& at(UserIndex user);
  void settle(User& user, Micros now) const;

  Micros half_life_;
  double decay_;  // of usage, a second
  std::vector<User> users_;
};

}  // namespace partita::decide
