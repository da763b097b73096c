// PlaceScheduler: joins waiting jobs and free slices by the scores of a trained network, or lets
// jobs wait (system place+).
#pragma once

#include "decide/scheduler.h"
#include "nn/model.h"
#include "nn/range_recorder.h"
#include "policies/learned/place_scene.h"
#include "policies/learned/waiting_jobs.h"

namespace partita::policies {

// Never interrupts a job, whatever the run allows. While the best pair has a score above 0 it is
// joined; else the jobs wait for the next event, unless nothing runs: then the best pair is joined
// anyway, so that no job waits for ever.
class PlaceScheduler : public decide::Scheduler {
 public:
  // REQUIRES: the rules are those of the model, which is of the encoding kPlus.
  PlaceScheduler(nn::Model model, PlaceRules rules);
  PlaceScheduler(const PlaceScheduler&) = delete;
  PlaceScheduler& operator=(const PlaceScheduler&) = delete;

  void begin(const decide::View& view) override;
  void job_arrived(const decide::View& view, JobHandle job) override;
  void job_stopped(const decide::View& view, JobHandle job) override;
  void job_done(const decide::View&, JobHandle) override {}
  void job_withdrawn(const decide::View& view, JobHandle job) override;
  void job_returned(const decide::View& view, JobHandle job) override;
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View& view, decide::Decision& decision) override;

  // For training: what it sees from now on is recorded; the recorder outlives it.
  void record(nn::RangeRecorder& recorder) { record_ = &recorder; }
  // For training: the network of the next run.
  nn::Network& policy() { return model_.policy; }

 private:
  // The best of the pairs listed, or null when waiting is better.
  const PlacePair* best_pair();

  nn::Model model_;
  PlaceRules rules_;
  PlaceScene scene_;
  WaitingJobs waiting_;
  nn::Activations activations_;
  nn::RangeRecorder* record_ = nullptr;
};

}  // namespace partita::policies
