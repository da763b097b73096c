// Compaction: where running jobs could be moved away so that a waiting job finds space.
//
// For repartitioners that make instances as jobs come, in runs where an interruption has to pay
// (decide::Preemption::kPays). docs/concepts/model.md has the rule, under "Defragmentation".
#pragma once

#include <span>
#include <vector>

#include "decide/view.h"

namespace partita::policies {

// A place for the waiting job, and the jobs that would have to leave it.
struct SpaceToMake {
  GpuId gpu;
  mig::Placement place;
  std::vector<cluster::JobHandle> movers;  // by first memory slice
  Micros cost;                             // of all their moves
};

struct SpaceSearch {
  // Until some place is free by itself, as far as jobs end when they are believed to; max() when
  // nobody can tell.
  Micros wait = Micros::max();
  std::vector<SpaceToMake> spaces;  // that cost less than the wait by a margin, the cheapest first
};

// Places for an instance of one of the profiles. `wanted` has, by GPU, the instances that stay or
// are to be made; none of the profiles fits there. Whether the movers have somewhere to go is not
// looked at.
SpaceSearch spaces_for(const decide::View& view, std::span<const mig::Layout> wanted,
                       std::span<const mig::ProfileIndex> profiles);

// What a move costs the job on this slice: the restart, and the making of another instance.
Micros cost_of_move(const decide::View& view, cluster::SliceId slice);

}  // namespace partita::policies
