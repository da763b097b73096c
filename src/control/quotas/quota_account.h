// QuotaAccount: the limits of one user or group, and what counts against them.
//
// What jobs that run have used of a period follows from the time: of them only is kept how late in
// the period they began. So it is exact, whatever happens in between.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/quotas/quota_rules.h"
#include "mig/gpu_model.h"

namespace partita::control {

// The instant, and the period that it is in.
struct QuotaClock {
  QuotaPeriod period = QuotaPeriod::kWeek;
  Micros now;
  Micros start;

  Micros end() const { return start + length_of(period); }
};

// One limit and what counts against it.
struct QuotaUse {
  std::string amount;  // as the file names it
  double used = 0;
  double most = 0;
};

struct QuotaLine {
  QuotaHolder kind = QuotaHolder::kUser;  // a user or a group
  std::string name;                       // as in the file; empty under the line for all others
  std::uint32_t id = 0;
  std::vector<QuotaUse> uses;
};

class QuotaAccount {
 public:
  // REQUIRES: the model outlives it.
  QuotaAccount(const mig::GpuModel& model, QuotaHolder kind, std::uint32_t id, std::string name,
               QuotaAmounts most);

  QuotaHolder kind() const { return kind_; }
  std::uint32_t id() const { return id_; }
  const QuotaAmounts& most() const { return most_; }
  std::string title() const;  // "user ann"

  // ---- what happens

  std::int64_t jobs() const { return jobs_; }
  void add_jobs(std::int64_t by);
  // An attempt on a slice of that size began so long after the period did; it is over after it
  // lasted so long within the period.
  void begin(int size, Micros into);
  void end(int size, Micros into, Micros lasted);
  void add_joules(double joules) { joules_ += joules; }
  void begin_period();

  // ---- what was used in the period

  // By attempts that are over.
  double slice_seconds_over() const { return slice_seconds_; }
  double joules() const { return joules_; }
  void set_used(double slice_seconds, double joules);

  // ---- what may be

  // Profiles on which a job may start now, bit i for profile i.
  std::uint16_t startable(const QuotaClock& clock) const;
  // Why a job that fits these profiles may not start. REQUIRES: startable() has none of them.
  std::string why_not(std::uint16_t fits, const QuotaClock& clock) const;
  // Why it never may; empty: it may some day.
  std::string why_never(std::uint16_t fits) const;
  // When what may be used in the period will be used up if nothing happens.
  Micros spent_at(const QuotaClock& clock) const;

  QuotaLine line(const QuotaClock& clock) const;

 private:
  double slice_seconds_used(const QuotaClock& clock) const;
  double slice_seconds_most() const;
  double gpu_hours_used(const QuotaClock& clock) const;
  bool spent(const QuotaClock& clock) const;
  bool has_room(int size) const;
  bool ever_has_room(int size) const;
  const mig::Profile& smallest(std::uint16_t fits) const;

  const mig::GpuModel* model_;
  QuotaHolder kind_;
  std::uint32_t id_;
  std::string name_;  // empty under the line for all others
  QuotaAmounts most_;
  std::int64_t jobs_ = 0;
  std::int64_t running_ = 0;
  std::int64_t slices_ = 0;
  std::array<std::int64_t, mig::kComputeSlicesMax + 1> instances_{};  // by compute slices
  double slice_seconds_ = 0;
  std::int64_t late_starts_ = 0;  // of what runs: slices times microseconds into the period
  double joules_ = 0;
};

}  // namespace partita::control
