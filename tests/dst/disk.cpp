// A disk that fills up.
#include "dst/world.h"

namespace partita::dst {

// Others fill the disk and make space again.
void World::fill_disk(bool faults) {
  if (rule_ != Rule::kFullDisk) return;
  const auto one_in = [this](std::uint64_t turns) { return disk_rng_.below(turns) == 0; };
  if (!faults) {
    disk_ = Disk::kSpace;
  } else if (disk_ == Disk::kSpace) {
    if (one_in(40)) disk_ = one_in(3) ? Disk::kFull : Disk::kLow;
  } else if (one_in(15)) {
    disk_ = one_in(2) ? Disk::kSpace : disk_ == Disk::kLow ? Disk::kFull : Disk::kLow;
  }
  store_.set_full(disk_ == Disk::kFull);
}

void World::storage_inputs(std::vector<control::Input>& inputs) {
  const bool space = disk_ == Disk::kSpace;
  if (space == told_space_) return;
  told_space_ = space;
  inputs.emplace_back(std::in_place_type<control::Storage>, space, space ? "" : "the disk is full");
}

}  // namespace partita::dst
