// ComposedScheduler: a scheduler made of an order of jobs and a rule for the slice.
#pragma once

#include <memory>
#include <vector>

#include "decide/scheduler.h"
#include "policies/job_order.h"
#include "policies/job_queue.h"
#include "policies/placements/ranked.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// What it does with running jobs depends on what the run allows:
//   free   at every decision all jobs are placed anew, in order, as if every slice were free;
//   none   waiting jobs are placed on idle slices, in order;
//   cost   as none, but a waiting job that would be late on the idle slice it could have may
//          displace a running one: the last in the order of those on whose slices this one would be
//          on time, if it comes after this one. Displaced jobs are placed again at the end, on idle
//          slices.
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

  // The jobs to place, in order: a walk over the queue when keys are settled at arrival, a heap
  // made anew for each round when they are not.
  void begin_walk(const decide::View& view);
  const QueueEntry* next_in_walk();
  const QueueEntry* next_in_round();
  void take_from_walk();

  void enter(const decide::View& view, JobHandle job);
  void leave(const decide::View& view, JobHandle job);
  QueueEntry entry_of(const decide::View& view, JobHandle job) const;
  void queue_lone(const decide::View& view);
  void add_to_pool(JobHandle job);
  void remove_from_pool(JobHandle job);
  void collect_round(const decide::View& view);

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

  std::unique_ptr<JobOrder> order_;
  std::unique_ptr<SliceRule> rule_;
  RankedRule* ranked_ = nullptr;  // the rule, when it is one: most are
  Mode mode_ = Mode::kFree;
  bool keys_settled_ = true;
  std::uint16_t all_profiles_ = 0;

  JobQueue queue_;  // keys settled
  // The only waiting job of a run without preemption: most jobs of a fleet that is not full find a
  // slice in the instant they come, and need not go through the queue.
  JobHandle lone_;
  std::vector<JobHandle> pool_;            // keys not settled: the same jobs, unordered
  std::vector<std::uint32_t> pool_index_;  // by handle
  std::vector<QueueEntry> round_;          // heap of this round
  std::vector<Candidate> candidates_;
  QueueEntry current_;

  std::vector<std::uint32_t> placed_in_;  // by handle: number of the last round that placed it
  std::uint32_t round_number_ = 0;
  std::vector<JobHandle> displaced_;
};

}  // namespace partita::policies
