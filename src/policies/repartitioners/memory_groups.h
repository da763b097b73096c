// MemoryGroups: jobs of one memory size at a time, so that layouts change as rarely as can be.
//
// The scheme of MIGM (Saraha et al. 2025) that makes the fewest repartitions; its details are not
// published, so the rule is ours. Jobs that take the same number of memory slices at their tightest
// are a group. A GPU is cut for one group and stays so while a job of the group waits; then it
// turns to another: the one for which the fewest GPUs are cut, of those with as few the one with
// the smallest slices. Jobs that outgrow a slice go up, so with one GPU and all jobs there from the
// start no group is set up twice.
//
// Meant for batches, with the placement `tightest`: where jobs of one group never stop coming, the
// others wait.
#pragma once

#include <map>
#include <vector>

#include "decide/repartitioner.h"

namespace partita::policies {

class MemoryGroups : public decide::Repartitioner {
 public:
  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

 private:
  // The group of a GPU that has nothing to do for its own; 0 when there is none to turn to.
  int next_group(const decide::View& view, const std::map<int, std::size_t>& waiting) const;
  std::size_t free_places(const decide::View& view, int group) const;

  // By memory slices: the layout that holds the most such jobs, of those the one with the most
  // compute slices.
  std::map<int, mig::Layout> layouts_;
  std::vector<int> groups_;  // by GPU; 0: none yet
};

}  // namespace partita::policies
