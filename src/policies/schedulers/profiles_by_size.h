// ProfilesBySize: which profiles have slices of which size, and on which a job would be on time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mig/gpu_model.h"
#include "policies/candidate.h"

namespace partita::policies {

class ProfilesBySize {
 public:
  ProfilesBySize() = default;
  explicit ProfilesBySize(const mig::GpuModel& model);

  // A mask of profiles, bit i for profile i.
  std::uint16_t of_size(std::size_t size_index) const {
    return of_sizes_[std::size_t{1} << size_index];
  }

  // The sizes of the profiles of a mask, bit i for size index i.
  unsigned sizes_of(std::uint16_t profiles) const { return sizes_of_[profiles]; }

  // The profiles that fit the job and on which it would complete by its deadline if it began now.
  std::uint16_t on_time(const Candidate& candidate) const {
    return of_sizes_[candidate.on_time_sizes()] & candidate.job.fits;
  }

 private:
  // By mask of sizes: the profiles of all of them.
  std::array<std::uint16_t, std::size_t{1} << workload::kSliceSizeCount> of_sizes_{};
  std::vector<std::uint8_t> sizes_of_;  // by mask of profiles
};

}  // namespace partita::policies
