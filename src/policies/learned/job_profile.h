// JobProfile: whether jobs are distributed as those of a training were.
//
// A job is its length, how much longer it may take, how much faster it is on larger slices, and its
// memory. Of each the distribution in training stands in the model; of the last jobs that came it
// is kept here, and the largest difference between the two says how strange they are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decide/active_job.h"
#include "nn/model.h"
#include "workload/job.h"

namespace partita::policies {

enum class Trust : std::uint8_t {
  kUnknown,  // it has not seen enough to say
  kYes,
  kNo,
};

inline constexpr std::size_t kJobNumbers = 4;
std::array<float, kJobNumbers> job_numbers(const decide::ActiveJob& job);

// Of the jobs of a training.
class JobRecorder {
 public:
  void add(const workload::Job& job);
  // REQUIRES: at least one job was added.
  nn::Distributions distributions() const;

 private:
  std::array<std::vector<float>, kJobNumbers> values_;
};

class JobProfile {
 public:
  // REQUIRES: the distributions outlive it; none: every job is as expected.
  explicit JobProfile(const nn::Distributions& trained) : trained_(trained) {}

  void begin();
  void add(const decide::ActiveJob& job);
  // The largest difference between the shares at or below any of the points.
  double distance() const;
  Trust trust() const { return trust_; }
  // Whether the training left anything to compare with.
  bool recorded() const { return trained_.numbers() == kJobNumbers; }

  static constexpr double kJobsFew = 10;  // enough where they are much like those of training
  static constexpr double kJobsMin = 30;  // and where they are not
  static constexpr double kJobsRemembered = 150;  // the last so many count
  static constexpr double kStrange = 0.35;        // a distance from which on jobs are strange
  static constexpr double kFamiliar = 0.25;       // and below which they are familiar again

 private:
  const nn::Distributions& trained_;
  std::vector<double> share_;  // as in the distributions
  double jobs_ = 0;
  Trust trust_ = Trust::kYes;
};

}  // namespace partita::policies
