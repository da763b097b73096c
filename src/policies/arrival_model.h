// ArrivalModel: what a policy expects to come, learned from what came.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "decide/active_job.h"
#include "workload/job.h"

namespace partita::policies {

// Arrivals are Poisson with a rate that is a profile of the day (known beforehand, mean 1) times a
// level (estimated from the last hours); jobs are drawn from those that came last.
class ArrivalModel {
 public:
  static constexpr Micros kWindow = Micros::seconds(2 * 3600);
  static constexpr std::size_t kPoolJobs = 512;
  static constexpr std::size_t kPoolJobsMin = 20;  // fewer say too little
  // A level is of this long at least, watched or not: who begins to watch when a crowd comes does
  // not expect one every minute.
  static constexpr Micros kStretchMin = Micros::seconds(15 * 60);
  static constexpr double kTimesRemembered = 4096;       // jobs whose times count
  static constexpr std::size_t kSampleJobsMax = 10'000;  // of one sample; the first are kept

  // `began`: since when arrivals are watched.
  explicit ArrivalModel(const std::array<double, 24>& profile, Micros began = {})
      : profile_(profile), began_(began) {}

  void job_arrived(const decide::ActiveJob& job);

  // Whether enough came to say anything.
  bool ready() const { return pool_.size() >= kPoolJobsMin; }
  // Jobs an hour at a profile of 1. REQUIRES: ready().
  double level(Micros now) const;
  double jobs_per_day(Micros now) const { return 24 * level(now); }

  // Of a job on its fastest slice, over the last thousands. REQUIRES: ready().
  Micros mean_time() const { return micros_from_seconds(times_.mean); }
  // How far that may be off: its standard error as a share of it. Where a few jobs make up most of
  // the work, few jobs say little of what is to come, however many futures are drawn from them.
  double mean_time_error() const;

  // Jobs that may come in (now, until], in order of arrival, each with an arrival and a deadline as
  // far from it as the drawn job's was; of all that may come this share. Replaces what `jobs` held.
  // REQUIRES: ready().
  void sample(Rng& rng, Micros now, Micros until, std::vector<workload::Job>& jobs,
              double share = 1) const;

 private:
  double profile_at(Micros time) const;
  // Integral of the profile over a stretch of time, in hours.
  double profile_hours(Micros from, Micros to) const;

  std::array<double, 24> profile_;
  Micros began_;
  std::vector<workload::Job> pool_;  // a ring once it is full; arrival 0, deadline relative
  std::size_t pool_next_ = 0;
  // Of the seconds on the fastest slice; what is old counts less and less.
  struct {
    double weight = 0;
    double mean = 0;
    double variance = 0;
  } times_;
  std::vector<Micros> recent_;  // arrival times, ascending; the old ones are dropped now and then
};

}  // namespace partita::policies
