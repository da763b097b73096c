// PreemptionPlanner: which running jobs to displace or to move because that pays.
//
// For runs in which an interruption costs and has to be worth it (decide::Preemption::kPays). It is
// asked after the idle slices were filled. docs/concepts/model.md has the rule; all of it is
// arithmetic on whole microseconds, so that another program can check it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decide/scheduler.h"
#include "policies/schedulers/slice_calendar.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

class PreemptionPlanner {
 public:
  // How many of the waiting jobs, and of the running ones that will be late, may displace another.
  static constexpr std::size_t kClaimants = 20;
  // Of how many waiting jobs the tardiness is projected.
  static constexpr std::size_t kProjected = 40;
  // Displacements in one decision.
  static constexpr int kDisplacementsMax = 4;

  // `job` takes the slice of `victim`, which waits again or goes to an idle slice.
  struct Displacement {
    JobHandle job;
    JobHandle victim;
    SliceId slice;
    SliceId left;  // where the job runs or would have started; not valid when it waits
  };
  // A running job goes to an idle slice on which it is done earlier.
  struct Upgrade {
    JobHandle job;
    SliceId to;
  };

  // Whether any running job may be moved now; without one nothing can be planned. One look at each
  // slice.
  static bool any_movable(const decide::View& view);
  // A decision begins: slices and jobs as in the view. What jobs need is computed once in it.
  void begin(const decide::View& view);
  // Moves of the same decision, which the view does not show yet. A job that starts from waiting
  // may still displace another instead.
  void started(const decide::View& view, JobHandle job, SliceId slice);
  void displaced(const decide::View& view, const Displacement& displacement);
  void upgraded(const decide::View& view, const Upgrade& upgrade);

  // The upgrade that saves most, if one pays.
  std::optional<Upgrade> best_upgrade(const decide::View& view);

  // The displacement that pays best, if one does. `waiting`: the first jobs that wait, in order, up
  // to kProjected.
  std::optional<Displacement> best_displacement(const decide::View& view,
                                                std::span<const JobHandle> waiting);

 private:
  static constexpr std::size_t kProfilesMax = SliceCalendar::kProfilesMax;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // What a job needs that waits or would have to; times from now on.
  struct Want {
    std::array<std::int64_t, workload::kSliceSizeCount> needs{};  // on each size, with its restart
    std::int64_t slack = 0;                                       // until its deadline
    std::uint16_t fits = 0;
  };
  // A slice that can be used.
  struct Place {
    SliceId slice;
    JobHandle job;      // that runs there and may be moved
    JobHandle starter;  // that starts there in this decision and may start elsewhere
    std::int64_t free_after = 0;
    std::int64_t slack = 0;  // of `job` or `starter`
    mig::ProfileIndex profile = 0;
    std::uint8_t size_index = 0;
    bool idle = false;
    bool want_known = false;  // whether that of `job` stands in moved_

    std::int64_t tardiness() const { return std::max<std::int64_t>(0, free_after - slack); }
  };
  // A job that may displace another.
  struct Claimant {
    JobHandle job;
    Want want;
    std::int64_t tardiness = 0;   // if nothing is done
    std::size_t waiting = kNone;  // its number among the waiting jobs
    std::size_t place = kNone;    // where it runs or starts
  };
  struct Choice {
    std::int64_t worth = 0;  // gain less loss
    std::size_t claimant = 0;
    std::size_t place = 0;
  };
  static Want want_of(const decide::View& view, JobHandle job, bool interrupted);
  const Want& want_when_moved(const decide::View& view, std::size_t place);
  void add_running(const decide::View& view, const decide::ActiveJob& job, JobHandle handle,
                   Place& place);
  void set_idle(Place& place);
  void left(const decide::View& view, SliceId slice);
  bool adds_energy(const decide::View& view, const Place& from, const Place& to,
                   std::int64_t need) const;

  template <typename Visit>
  void each_movable(mig::ProfileIndex profile, const Visit& visit) const;
  bool may_have_claimants(const decide::View& view) const;
  void project(const decide::View& view);
  std::int64_t place_in(SliceCalendar& calendar, const Want& want) const;
  void collect_claimants(const decide::View& view, std::span<const JobHandle> waiting);
  void collect_choices(const decide::View& view);
  std::int64_t loss_at(const decide::View& view, std::size_t place, const Claimant& by);
  std::int64_t change_by(const decide::View& view, const Choice& choice);

  std::array<std::uint8_t, kProfilesMax> size_of_{};  // index, by profile
  std::vector<Place> places_;                         // by slice
  std::vector<std::uint32_t> place_of_;               // by slice
  std::vector<std::size_t> busy_;  // compute slices by GPU, with the moves of this decision
  // By profile: where a job that may be moved ran when the decision began, and how many are idle.
  std::array<std::vector<std::uint32_t>, kProfilesMax> movable_;
  std::array<std::uint32_t, kProfilesMax> idle_{};
  std::uint16_t movable_profiles_ = 0;
  std::uint16_t idle_profiles_ = 0;
  std::vector<Want> moved_;  // by place, what its job needs elsewhere; see Place::want_known

  std::vector<Want> wants_;              // of the waiting jobs
  std::vector<std::int64_t> tardiness_;  // projected, of the waiting jobs
  std::int64_t delay_of_others_ = 0;     // what an interruption costs the late jobs that wait
  SliceCalendar calendar_;
  SliceCalendar trial_;
  std::vector<Claimant> claimants_;
  std::vector<Choice> choices_;
};

}  // namespace partita::policies
