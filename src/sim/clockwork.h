// Clockwork: what moves a run forward: arrivals, completions, steps of layout changes, and after
// each instant one decision of the scheduler. When layouts are asked for is said by who owns it.
#pragma once

#include <span>
#include <vector>

#include "decide/policy_driver.h"
#include "sim/layout_changes.h"
#include "sim/world.h"
#include "workload/job.h"

namespace partita::sim {

class Clockwork {
 public:
  // REQUIRES of what is referred to: it outlives the clockwork. The repartitioner may be null.
  Clockwork(const RunOptions& options, decide::Scheduler& scheduler,
            decide::Repartitioner* repartitioner = nullptr);
  Clockwork(const Clockwork&) = delete;
  Clockwork& operator=(const Clockwork&) = delete;

  // Jobs to come, in order of arrival, none before now; their ids count from `first`.
  void set_arrivals(std::span<const workload::Job> arrivals, JobId first);
  bool arrivals_left() const { return next_arrival_ < arrivals_.size(); }
  std::size_t arrived() const { return next_arrival_; }
  // Of the next job to arrive.
  JobId next_id() const { return {first_id_.value + static_cast<std::uint32_t>(next_arrival_)}; }
  // A job that fits no profile of the GPU came; the run cannot go on.
  JobId unplaceable() const { return unplaceable_; }

  // The next instant at which something happens by itself; Micros::max() when nothing will.
  Micros next_event() const;
  // Moves to that instant, or to an earlier one, and lets happen what is due. decide() must follow.
  void advance_to(Micros now);
  // Layouts, where the repartitioner's turn has come. True when that was for its timer.
  bool repartition();
  void decide();

  // Goes on from the position of another clockwork with the same options, with other arrivals and
  // with this one's own scheduler, which is told of every job.
  void copy_position(const Clockwork& other);
  // The same with some of the other's GPUs, ascending; this one has as many.
  void copy_part(const Clockwork& other, std::span<const GpuId> gpus);
  // Stands where a view and the courses of its GPUs say, for others to copy: no scheduler is told.
  // Of more than `waiting_max` waiting jobs so many are taken, evenly. No arrivals.
  void take_view(const decide::View& seen, std::span<const decide::LayoutCourse> courses,
                 std::size_t waiting_max, const decide::Outlook& outlook);

  World world;
  decide::View view;
  decide::PolicyDriver policies;
  LayoutChanges changes;

 private:
  void tell_scheduler();
  void complete_due();
  void restart_larger(JobHandle job);
  void arrive_due();

  cluster::ProfileFits fits_;
  std::span<const workload::Job> arrivals_;
  std::size_t next_arrival_ = 0;
  JobId first_id_;
  std::vector<GpuId> freed_;  // by completions while layouts change
  JobId unplaceable_;
  bool jobs_left_slices_ = false;  // other than by completing; the scheduler is to be told
};

}  // namespace partita::sim
