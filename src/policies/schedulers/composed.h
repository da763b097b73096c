// ComposedScheduler: a scheduler made of an order of jobs and a rule for the slice.
#pragma once

#include <memory>
#include <vector>

#include "decide/scheduler.h"
#include "policies/job_order.h"
#include "policies/placements/ranked.h"
#include "policies/schedulers/due_date_queue.h"
#include "policies/schedulers/job_pool.h"
#include "policies/schedulers/job_queue.h"
#include "policies/schedulers/preemption_planner.h"
#include "policies/schedulers/profiles_by_size.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// What it does with running jobs depends on what the run allows:
//   free   at every decision all jobs are placed anew, in order, as if every slice were free;
//   none   waiting jobs are placed on idle slices, in order;
//   cost   as none, but a waiting job that would be late on the idle slice it could have may
//          displace a running one: the last in the order of those on whose slices this one would be
//          on time, if it comes after this one. Displaced jobs are placed again at the end, on idle
//          slices;
//   pays   as none, but where that lowers tardiness by more than it costs (PreemptionPlanner) a
//          late running job goes to an idle slice, or a waiting job displaces a running one.
class ComposedScheduler : public decide::Scheduler {
 public:
  ComposedScheduler(std::unique_ptr<JobOrder> order, std::unique_ptr<SliceRule> rule);

  void begin(const decide::View& view) override;
  void job_arrived(const decide::View& view, JobHandle job) override;
  void job_stopped(const decide::View& view, JobHandle job) override;
  void job_done(const decide::View& view, JobHandle job) override;
  void job_withdrawn(const decide::View& view, JobHandle job) override;
  void job_returned(const decide::View& view, JobHandle job) override;
  void layout_changed(const decide::View& view) override;
  void decide(const decide::View& view, decide::Decision& decision) override;

 private:
  using Mode = decide::Preemption::Mode;

  // Where the jobs to place are kept.
  enum class Keeping : std::uint8_t {
    kQueue,     // keys are settled at arrival: a sorted queue
    kPool,      // they are not: a heap made anew for each round
    kDueDates,  // modified due dates of jobs that only wait: DueDateQueue
  };

  // The jobs to place, in order.
  void begin_walk(const decide::View& view);
  const QueueEntry* next_in_walk(const decide::View& view);
  const QueueEntry* next_in_round();
  void take_from_walk();

  void enter(const decide::View& view, JobHandle job) { enter(view, job, view.jobs[job]); }
  // `waiting`: its record as it will wait.
  void enter(const decide::View& view, JobHandle job, const decide::ActiveJob& waiting);
  void leave(const decide::View& view, JobHandle job);
  QueueEntry entry_of(const decide::View& view, JobHandle job) const;
  void queue_lone(const decide::View& view);
  void collect_round(const decide::View& view);
  bool nothing_waits() const;
  unsigned sizes_for(const decide::ActiveJob& job) const;

  template <typename Round>
  void place_all(Round round, const decide::View& view, decide::Decision& decision);
  void rest_displaced(const decide::View& view, decide::Decision& decision) const;
  SliceId claim(const Candidate& candidate);
  std::uint16_t free_profiles() const;
  void place_waiting(const decide::View& view, decide::Decision& decision);
  // Whether the job displaces another because it would be late on the idle slice it could have.
  bool displace_for(const decide::View& view, const QueueEntry& entry, const Candidate& candidate,
                    SliceId idle, decide::Decision& decision);
  SliceId slice_to_displace(const decide::View& view, const QueueEntry& entry,
                            const Candidate& candidate) const;
  void place_displaced(const decide::View& view, decide::Decision& decision);
  void place_stopped(const decide::View& view, JobHandle job, decide::Decision& decision);
  const decide::ActiveJob& as_it_waits(const decide::View& view, JobHandle job) const;
  void place_due(const decide::View& view, decide::Decision& decision);

  void preempt_where_it_pays(const decide::View& view, decide::Decision& decision);
  void upgrade_late(const decide::View& view, decide::Decision& decision);
  void list_waiting(const decide::View& view);

  std::unique_ptr<JobOrder> order_;
  std::unique_ptr<SliceRule> rule_;
  RankedRule* ranked_ = nullptr;  // the rule, when it is one: most are
  Mode mode_ = Mode::kFree;
  Keeping keeping_ = Keeping::kQueue;
  std::uint16_t all_profiles_ = 0;
  std::uint16_t offered_ = 0;  // profiles of the slices that exist and do not close
  ProfilesBySize profiles_;

  JobQueue queue_;
  DueDateQueue due_dates_;
  // The only waiting job of a run without preemption: most jobs of a fleet that is not full find a
  // slice in the instant they come, and need not go through the queue.
  JobHandle lone_;
  JobPool pool_;
  std::vector<QueueEntry> round_;  // heap of this round
  std::vector<Candidate> candidates_;
  std::uint16_t round_free_ = 0;  // profiles that were free when the round was collected
  QueueEntry current_;

  std::vector<std::uint32_t> placed_in_;  // by handle: number of the last round that placed it
  std::uint32_t round_number_ = 0;
  std::vector<JobHandle> displaced_;
  // Jobs that wait since this decision displaced them, with preemption that pays.
  std::vector<std::pair<JobHandle, decide::ActiveJob>> stopped_;
  PreemptionPlanner planner_;
  std::vector<JobHandle> waiting_;  // the first ones, for the planner
};

}  // namespace partita::policies
