// Familiarity: whether a model sees what it was trained on.
//
// A model may have a record of its training: where the numbers lay that it saw, how the jobs were
// distributed (JobProfile), and what the run allowed. A model without a record is taken to know
// everything.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "decide/view.h"
#include "nn/model.h"
#include "policies/learned/job_profile.h"

namespace partita::policies {

// The key of the header under which a model says how jobs could be preempted in its training, and
// what it says: "free", "none", "cost", ...
inline constexpr const char* kTrainedPreemption = "preemption";
std::string preemption_word(decide::Preemption::Mode mode);

class Familiarity {
 public:
  // REQUIRES: the model outlives it.
  explicit Familiarity(const nn::Model& model) : model_(model), jobs_(model.drawn) {}

  bool recorded() const { return !model_.seen.empty(); }
  // A run begins.
  void begin(const decide::View& view);
  void job_arrived(const decide::ActiveJob& job) { jobs_.add(job); }
  // Whether what the model sees lies far outside of what it saw. REQUIRES: recorded().
  bool far_outside(std::span<const float> observation) const {
    return model_.seen.outside(observation) > kFarOutside;
  }
  // At one decision this share of what it sees does.
  void add_look(double far);
  void look(std::span<const float> observation) {
    if (recorded()) add_look(far_outside(observation) ? 1 : 0);
  }

  // Unknown before a few looks and jobs; then yes as long as the run allows what it did in training
  // and jobs are distributed as there. Where the model has no record of jobs, most of what is seen
  // must lie within the ranges or not far outside.
  Trust trust() const;

  static constexpr std::uint32_t kLooksMin = 5;
  static constexpr double kLooksRemembered = 50;
  static constexpr double kFarOutside = 0.25;  // widths of a range
  static constexpr double kStrange = 0.3;  // share of looks far outside from which on it is strange
  static constexpr double kFamiliar = 0.1;  // and below which it is familiar again

 private:
  const nn::Model& model_;
  JobProfile jobs_;
  bool other_rules_ = false;
  Trust trust_ = Trust::kYes;
  std::uint32_t looks_ = 0;
  double far_ = 0;  // share of the last looks
};

}  // namespace partita::policies
