// JobNeeds: which mixes of layouts have a slice for every job, and the mixes a search begins with.
//
// Jobs that have a time for some slice sizes only, or need much memory, may fit no slice of a
// layout. Then no single layout for all GPUs runs them all, and most random mixes do not either.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/tuning/mix_plan.h"
#include "mig/layout.h"
#include "workload/job.h"

namespace partita::experiment {

class JobNeeds {
 public:
  // Of all jobs of the windows, and of `more` windows. Fails when a job fits no slice of any
  // numbered layout. REQUIRES: the model outlives this.
  static Result<JobNeeds> of(const mig::GpuModel& model, std::span<const workload::Trace> windows,
                             std::span<const workload::Trace> more = {});

  // How many numbered layouts the model has.
  int layouts() const { return static_cast<int>(layouts_.size()); }

  // Whether every job fits a slice of the mix.
  bool met_by(const Mix& mix) const { return met_by_profiles(profiles_of(mix)); }
  // Whether every job fits a slice of one of the segments, sooner or later.
  bool met_by(const MixPlan& plan) const;

  // For each numbered layout the mix that gives it to as many GPUs as can be, and others to as few
  // as all jobs need; each mix once. Without jobs of exact sizes these are the mixes of one layout.
  // Fails when so few GPUs cannot run every job, naming one that is left out.
  Result<std::vector<Mix>> first_mixes(std::uint32_t gpus) const;

 private:
  using Profiles = std::uint16_t;  // bit i is profile i

  // Jobs that fit the same profiles.
  struct Need {
    Profiles fits = 0;
    std::uint64_t jobs = 0;
    std::string example;  // "job 'x' needs 3 GiB and a slice of size 1g 2g"
  };

  explicit JobNeeds(const mig::GpuModel& model);

  Profiles profiles_of(const Mix& mix) const;
  bool met_by_profiles(Profiles profiles) const;
  void add(const workload::Trace& window);
  void keep_strictest();
  // The fewest layouts that, added to what is there, meet every need; `most` at the most.
  bool complete(Profiles there, std::size_t most, Mix& added) const;
  // The most jobs that so many layouts, from number `least` on, can meet beside what is there.
  struct Reach {
    std::uint64_t jobs = 0;
    Profiles profiles = 0;
  };
  Reach best_reach(Profiles there, int least, std::size_t layouts) const;
  Error too_few(std::uint32_t gpus) const;

  const mig::GpuModel* model_;
  std::vector<Profiles> layouts_;  // what layout i + 1 offers
  std::vector<Need> needs_;        // all of them
  std::vector<Profiles> strict_;   // those that no other need implies
};

}  // namespace partita::experiment
