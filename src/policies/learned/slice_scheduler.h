// SliceScheduler: asks a trained network which slice the job with the earliest deadline gets, as
// the technical report does (system place-ppo).
#pragma once

#include <vector>

#include "decide/scheduler.h"
#include "nn/model.h"
#include "policies/learned/place_rules.h"
#include "policies/learned/slice_observation.h"
#include "policies/learned/waiting_jobs.h"

namespace partita::policies {

// The waiting jobs of the published placement and what it sees of them. Training and decisions use
// this same code.
class SliceQueue {
 public:
  void begin(const decide::View& view);
  void enter(const decide::View& view, JobHandle job);
  void leave(const decide::View& view, JobHandle job);
  void layout_changed(const decide::View& view) { observation_.rebuild(view.cluster); }

  void begin_decision() { observation_.begin_decision(); }
  // The waiting job with the earliest deadline that fits a free slice, which `allowed` then marks;
  // not valid when there is none.
  JobHandle next(const decide::View& view, std::span<std::uint8_t> allowed) const;
  void write(const decide::View& view, JobHandle next, std::size_t width,
             std::span<float> out) const;
  // The job goes to the slice of that index, as far as this decision is concerned.
  decide::Move place(const decide::View& view, JobHandle job, std::size_t index);
  std::span<const SliceId> slices() const { return observation_.slices(); }

 private:
  WaitingJobs waiting_;
  SliceObservation observation_;
};

// Never interrupts a job and never lets one wait while a slice that fits it is free.
class SliceScheduler : public decide::Scheduler {
 public:
  // REQUIRES: the rules are those of the model, which is of the encoding kPublished.
  SliceScheduler(nn::Model model, PlaceRules rules);

  Status accepts(const decide::View& view) const override;
  void begin(const decide::View& view) override { queue_.begin(view); }
  void job_arrived(const decide::View& view, JobHandle job) override { queue_.enter(view, job); }
  void job_stopped(const decide::View& view, JobHandle job) override { queue_.enter(view, job); }
  void job_done(const decide::View&, JobHandle) override {}
  void job_withdrawn(const decide::View& view, JobHandle job) override;
  void job_returned(const decide::View& view, JobHandle job) override;
  void layout_changed(const decide::View& view) override { queue_.layout_changed(view); }
  void decide(const decide::View& view, decide::Decision& decision) override;

 private:
  nn::Model model_;
  PlaceRules rules_;
  SliceQueue queue_;
  nn::Evaluator evaluate_;
  std::vector<float> state_;
  std::vector<std::uint8_t> allowed_;
};

}  // namespace partita::policies
