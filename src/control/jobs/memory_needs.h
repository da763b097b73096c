// MemoryNeeds: how much memory a job is believed to need, and which slices have as much.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/job_spec.h"
#include "launch/launcher.h"
#include "mig/layout.h"
#include "store/store.h"

namespace partita::control {

class MemoryNeeds {
 public:
  // REQUIRES: the model outlives it.
  explicit MemoryNeeds(const mig::GpuModel& model);

  // Only profiles of these layouts will ever be there.
  void offer_only(std::span<const mig::Layout> layouts);
  void read(const std::vector<store::PeakRow>& peaks);

  // Of a job that has not run yet: as given, or as earlier ones of its name; 0 when nothing is
  // known.
  double first_need(const JobSpec& spec, const launch::Owner& owner) const;
  // A job of that name ended well with this peak; gives what to write down.
  store::PeakRow learn(const JobSpec& spec, const launch::Owner& owner, double peak_gib);

  // Profiles on offer with as much memory, bit i for profile i.
  std::uint16_t fitting(double need_gib) const;
  // The next more memory that a profile on offer has.
  std::optional<double> next_larger(double gib) const;
  double largest() const;

 private:
  const mig::GpuModel& model_;
  std::uint16_t offered_ = 0;
  std::map<std::pair<std::uint32_t, std::string>, double> peaks_;  // by user and name
};

}  // namespace partita::control
