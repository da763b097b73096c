// Quotas: the accounts of users and groups, and whether one more job may start.
//
// A holder is a user or a group with a line in the rules, or a user under the line for all others.
// What is held at once follows from the attempts under way. What was used in a period is kept in
// rows of its own, since attempts are forgotten: GPU time as of the attempts that ended, joules as
// they are booked. Nobody is stopped here: whoever is above a limit starts nothing more.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/job_table.h"
#include "control/quotas/quota_account.h"

namespace partita::control {

class Quotas {
 public:
  using Holder = std::uint32_t;
  // Of one job: its user, then its group, as far as they have limits.
  class Holders {
   public:
    void add(Holder holder) { held_[count_++] = holder; }
    const Holder* begin() const { return held_.data(); }
    const Holder* end() const { return held_.data() + count_; }

   private:
    std::array<Holder, 2> held_{};
    std::size_t count_ = 0;
  };

  // So many jobs of a holder that wait are shown to policies beyond those that could start at once:
  // something to choose from, and a bound on what follows when a limit is reached.
  static constexpr std::int64_t kAhead = 16;

  // REQUIRES: the model outlives it.
  Quotas(QuotaRules rules, const mig::GpuModel& model, std::size_t gpus);

  bool any() const { return rules_.any(); }
  const QuotaClock& clock() const { return clock_; }

  // ---- what happens

  // Time goes on, perhaps to the next period.
  void set_time(Micros now);
  void add_job(const launch::Owner& owner);
  void remove_job(const launch::Owner& owner);
  // An attempt begins, or is over. Profiles that the model lacks count for nothing.
  void begin(const launch::Owner& owner, const store::AttemptRow& attempt);
  void end(const launch::Owner& owner, const store::AttemptRow& attempt);
  void add_joules(const launch::Owner& owner, double joules);

  // ---- what may be

  // Users whom the rules do not name get their account here.
  Holders enter(const launch::Owner& owner);
  Holders holders_of(const launch::Owner& owner) const;
  const QuotaAccount& account(Holder holder) const { return accounts_[holder].books; }
  // Profiles on which a job of the holder may start now, bit i for profile i.
  std::uint16_t startable(Holder holder) const { return account(holder).startable(clock_); }
  bool may_start(const launch::Owner& owner, mig::ProfileIndex profile) const;
  // How many jobs of the holder may run or be among those that policies may start.
  std::size_t admitted_max(Holder holder) const;

  // Why so many more jobs cannot be taken.
  std::optional<std::string> no_room_for(const launch::Owner& owner, std::size_t count);
  // Why no job of the owner that fits these profiles will ever start.
  std::optional<std::string> never(const launch::Owner& owner, std::uint16_t fits);

  // Somebody waits who goes by what startable() leaves now: a change from here on counts, although
  // it may have been so before.
  void note_wait(Holder holder);
  // Holders whose startable() changed since the last call, in order.
  std::vector<Holder> take_changed_holders();
  // When that may be so although nothing happens; Micros::max(): never.
  Micros next_time() const;

  // ---- rows

  // What the store holds. What it does not say of a period is found from the attempts in the table.
  void read(const std::vector<store::TotalRow>& rows, const JobTable& jobs);
  // Joules that were added are to be written.
  void note_books_due();
  std::vector<store::TotalRow> take_changed();
  // Whether a row is of this; others are totals.
  static bool is_quota_row(const store::TotalRow& row);

  // ---- for whoever shows it

  // Of all holders with an account; or of the owner alone.
  std::vector<QuotaLine> lines() const;
  std::vector<QuotaLine> lines_of(const launch::Owner& owner) const;

 private:
  struct Account {
    QuotaAccount books;
    std::uint16_t told = 0;      // startable() when somebody last went by it
    bool changed = false;        // until then
    bool joules_booked = false;  // since it was last written
    bool unwritten = false;
  };
  // What an attempt counts for in the present period.
  struct Span {
    int size = 0;
    Micros from;  // not before the period
  };

  void open(QuotaHolder kind, std::uint32_t id, const std::string& name, const QuotaAmounts& most);
  const QuotaRule* default_rule() const;
  std::optional<Span> span_of(const store::AttemptRow& attempt) const;
  std::string row_name(QuotaHolder kind, std::string_view what) const;
  // False: nothing is known of this period.
  bool read_rows(QuotaAccount& account) const;
  // Whether the row is of somebody whose use of such periods is counted now.
  bool keeps(std::int64_t id, const std::string& row) const;
  void count_attempts(QuotaAccount& account, const JobTable& jobs) const;

  QuotaRules rules_;
  const mig::GpuModel& model_;
  std::int64_t fleet_slices_;
  QuotaClock clock_;
  std::vector<Account> accounts_;
  std::map<std::uint32_t, Holder> users_;   // by uid
  std::map<std::uint32_t, Holder> groups_;  // by gid
  // Rows of holders that have no account yet.
  std::map<std::pair<std::int64_t, std::string>, double> stored_;
  std::vector<store::TotalRow> outdated_;  // what is to be written instead of others' rows
};

}  // namespace partita::control
