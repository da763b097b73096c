// JobFlow: a job from one state to the next, in the books, in the store and for the policies.
#pragma once

#include <string>

#include "control/control_state.h"

namespace partita::control {

class JobFlow {
 public:
  explicit JobFlow(ControlState& state) : state_(state) {}

  void take(const Submit& submit);
  void take(const Hold& hold);

  // `cause`: of a restart, and of nothing else.
  void move_to(Job& job, JobState to, std::string reason,
               store::StopCause cause = store::StopCause::kNone);
  // REQUIRES: it holds no slice any more.
  void end(Job& job, JobState as, std::string reason);
  // It waits again. REQUIRES: it holds no slice any more and policies do not count on it, unless it
  // has a claim.
  void requeue(Job& job, std::string reason);

  // Whether a waiting job may start, found anew: policies are told of it, or it is taken from them,
  // or it ends because it never will.
  void look_at(Job& job);
  // Looks at all jobs for which something changed since the last call.
  void settle();
  // It has a place among the jobs that policies are told of.
  void give_handle(Job& job);
  // Why it may not start now.
  std::optional<QueueGates::Bar> bar_of(const Job& job) const;
  // Policies chose a slice for it that it cannot have now, and count on it no more.
  void decline(Job& job);

  // Whether it may be interrupted and go on elsewhere.
  bool may_be_moved(const Job& job) const;

  void forget_claim(const Job& job);
  // It waits like any other again, once it has been stopped if it has to be.
  void give_up_claim(Job& job);

 private:
  std::optional<Reply> refusal(const Submit& submit) const;
  Job& add(const Submit& submit, JobNumber array_job, std::size_t index);
  void admit(Job& job);
  // REQUIRES: policies do not count on it.
  void take_handle(Job& job);
  // The profiles on which it may start: with enough memory, and of these what quotas leave.
  std::uint16_t profiles_with_memory(const Job& job) const;
  std::uint16_t profiles_for(const Job& job) const;
  // REQUIRES: it waits, and policies know of it.
  void narrow(Job& job);
  // Whether it may not start; else what it may start on is found anew. REQUIRES: it waits, and
  // policies do not count on it.
  bool bar_or_fit(Job& job);
  void bar(Job& job, const QueueGates::Bar& bar);

  ControlState& state_;
};

}  // namespace partita::control
