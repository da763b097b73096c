// OnDemand: instances are made for the jobs that wait, where no idle one will do.
//
// Each job asks for some profiles (policies/request.h) and an instance of one is made where it
// fits, from free memory and from idle instances nobody waiting wants: neighbours are fused and
// large ones split by that alone. Waiting jobs are served in order of arrival; one that fits
// nowhere does not hold up those behind it. Busy instances are never touched, unless `moves` is
// set and interruptions have to pay (decide::Preemption::kPays): then jobs that can be resumed are
// moved where that makes space for one that would wait for longer (compaction.h).
//
// With the placement `requested`, and idle instances unmade, this is what operators of dynamic MIG
// have today. With `tightest`, and idle instances kept for the next job, it is the scheme of MIGM
// that reconfigures for the next job in the queue.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "decide/repartitioner.h"
#include "policies/repartitioners/compaction.h"
#include "policies/request.h"

namespace partita::policies {

class OnDemand : public decide::Repartitioner {
 public:
  enum class FitRule : std::uint8_t {
    kFirstFit,  // the first GPU and start that are free, as the NVIDIA DRA driver takes them
    kLeastFragmenting,  // the longest free run left, then the most places, as HAMi does
    kMostReachable,     // the most full layouts that can still be reached, as MIGM does
  };
  struct Options {
    AskedProfiles asked = only_requested_profile;
    FitRule fit = FitRule::kFirstFit;
    bool keep_idle = false;  // what no waiting job wants stays as long as it is not in the way
    bool moves = false;      // jobs are moved to make space, where the run lets that pay
  };

  explicit OnDemand(const Options& options) : options_(options) {}

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

 private:
  // A place for the profile on one of the GPUs, given what they are to keep.
  struct Place {
    GpuId gpu;
    std::uint8_t start = 0;
  };

  void keep_spaces(const decide::View& view);
  void keep_what_is_used(const decide::View& view);
  bool has_idle(const decide::View& view, std::span<const mig::ProfileIndex> profiles);
  bool make_space(const mig::GpuModel& model, std::span<const mig::ProfileIndex> profiles);
  std::optional<Place> find_place(const mig::GpuModel& model, mig::ProfileIndex profile) const;
  using Score = std::array<int, 3>;
  Score score(const mig::GpuModel& model, const mig::Layout& before,
              const mig::Layout& after) const;

  // Jobs that ask for the same profiles, a heap with the first to come in front.
  struct Waiting {
    JobId id;
    cluster::JobHandle handle;

    bool operator>(const Waiting& other) const { return id > other.id; }
  };
  struct WaitingJobs {
    std::uint16_t asked = 0;
    std::vector<Waiting> jobs;
  };
  // Space that others were moved away from for this job, until it has it or could have had another.
  struct KeptSpace {
    JobId job;
    cluster::JobHandle handle;
    GpuId gpu;
    mig::Placement place;
    Micros until;
  };
  bool make_space_by_moving(const decide::View& view, const Waiting& job,
                            std::span<const mig::ProfileIndex> profiles);
  bool move_away(const decide::View& view, const SpaceToMake& space);

  struct Known {
    JobId id;
    std::uint16_t fits = 0;
    std::uint16_t asked = 0;
  };
  void collect_waiting(const decide::View& view);
  bool has_space(JobId job) const;
  std::uint16_t asked_by(const decide::View& view, cluster::JobHandle handle);
  WaitingJobs* first_waiting();

  Options options_;
  std::vector<WaitingJobs> waiting_;                            // its jobs, built anew at each turn
  std::vector<Known> known_;                                    // by handle
  std::vector<KeptSpace> spaces_;                               // kept from one turn to the next
  std::vector<mig::Layout> full_layouts_;                       // kMostReachable
  std::vector<mig::Layout> wanted_;                             // by GPU, built anew at each turn
  std::vector<std::pair<std::uint32_t, mig::Placement>> idle_;  // not yet given to a waiting job
};

}  // namespace partita::policies
