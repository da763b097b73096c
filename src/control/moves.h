// Moves: decisions carried out, those about jobs that run among them.
//
// A job that runs is moved by running its checkpoint command, stopping it and starting it again;
// that takes seconds. Until then whoever is to be on a slice next has a claim to it. Policies see
// the slice as busy until that job will have ended, and nobody who takes part can be moved.
#pragma once

#include <optional>
#include <string>

#include "control/jobs/attempts.h"

namespace partita::control {

class Moves {
 public:
  Moves(ControlState& state, JobFlow& flow, SliceRecords& slices, Attempts& attempts)
      : state_(state), flow_(flow), slices_(slices), attempts_(attempts) {}

  void carry_out(const decide::Decision& decision);
  // After decisions were carried out: whether there is something more to decide, since quotas now
  // leave more or less.
  bool settle_quotas();
  // Starts the jobs whose time has come, keeps slices that are free already for those that are
  // still being stopped elsewhere, and gives up what cannot be any more.
  void serve_claims();
  // How long a job must have run to be stopped for a layout; nothing: jobs are waited for.
  std::optional<Micros> preempt_after() const;

  // Extends estimates that ran out, and finds when running jobs have to be looked at again.
  void look_at_running();
  // When an estimate runs out, or a job has run long enough to be moved; Micros::max(): never.
  Micros next_look() const { return next_look_; }
  void forget_look() { next_look_ = Micros::max(); }

 private:
  bool quotas_let(const Job& job, cluster::SliceId slice) const;
  void interrupt(Job& job, cluster::SliceId to, const Job* taker);
  void claim(Job& job, cluster::SliceId slice);
  bool claim_stands(const Job& job, cluster::SliceId slice) const;
  void believe_more(Job& job);
  Micros expected_end(const Job& job, cluster::SliceId slice) const;
  std::string outlook(const Job& job, cluster::SliceId slice) const;

  ControlState& state_;
  JobFlow& flow_;
  SliceRecords& slices_;
  Attempts& attempts_;
  Micros next_look_ = Micros::max();
};

}  // namespace partita::control
