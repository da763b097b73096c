// Estimates: the run times that policies are told, and the truth, which only the engine knows.
//
// All times of a job are told too long or too short by one factor, log-normal about 1, drawn from
// the seed and the job's number, so that every policy is misled alike. A job that ends before its
// estimate is simply done. One that outlives it is believed to be half done: to need as long again
// as it was believed to need in all, and so on each time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "decide/active_job.h"
#include "workload/job.h"

namespace partita::sim {

using cluster::JobHandle;

class Estimates {
 public:
  // `sigma` is the standard deviation of the logarithm of the factor; 0: policies know the truth,
  // and nothing else of this class is called.
  Estimates(double sigma, std::uint64_t seed) : sigma_(sigma), seed_(seed) {}

  bool exact() const { return sigma_ == 0; }

  double factor_of(JobId id) const;
  // The job as policies are told of it.
  workload::Job told(const workload::Job& job, JobId id) const;

  // A job has come; `job` is the truth about it.
  void begin(JobHandle handle, const workload::Job& job);
  // Books what really got done since the pace was set. Called before the pace changes.
  void book(JobHandle handle, const decide::ActiveJob& told, Micros now);
  // When to look at the job next: at its true completion, or when its estimate runs out. Called
  // after the pace was set.
  Micros due(JobHandle handle, const decide::ActiveJob& told);
  bool done(JobHandle handle, Micros now) const { return truths_[handle.value].finish <= now; }
  // The fraction, of the told times, that the job is now believed to need.
  double believe_more(JobHandle handle);
  // What it is believed to need in all, as a fraction of the told times.
  double believed(JobHandle handle) const { return truths_[handle.value].believed; }

 private:
  struct Truth {
    double left = 1;  // fraction of the work
    std::array<double, workload::kSliceSizeCount> time{};
    Micros finish;        // if left alone
    double believed = 1;  // in all, as a fraction of the told times
  };

  double sigma_;
  std::uint64_t seed_;
  std::vector<Truth> truths_;  // by handle
};

}  // namespace partita::sim
