// OnDemand: an instance is made for each job as it comes and unmade when it ends.
//
// This is what operators of dynamic MIG have today: each job asks for one profile
// (policies/request.h) and the driver makes an instance of it where it fits. Meant to be used with
// the placement `requested`, which puts a job on no other. Waiting jobs are served in order of
// arrival; one that fits nowhere does not hold up those behind it. An idle instance that no
// waiting job asks for goes.
#pragma once

#include <cstdint>
#include <vector>

#include "decide/repartitioner.h"

namespace partita::policies {

class OnDemand : public decide::Repartitioner {
 public:
  enum class Placement : std::uint8_t {
    kFirstFit,  // the first GPU and start that are free, as the NVIDIA DRA driver takes them
    kLeastFragmenting,  // the longest free run left, then the most places, as HAMi does
  };

  explicit OnDemand(Placement placement) : placement_(placement) {}

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

  void keep_what_is_used(const decide::View& view);
  bool has_idle(const decide::View& view, mig::ProfileIndex profile);
  std::optional<Place> find_place(const mig::GpuModel& model, mig::ProfileIndex profile) const;
  std::optional<Place> least_fragmenting(const mig::GpuModel& model,
                                         mig::ProfileIndex profile) const;

  Placement placement_;
  std::vector<mig::Layout> wanted_;                             // by GPU, built anew at each turn
  std::vector<std::pair<std::uint32_t, mig::Placement>> idle_;  // not yet given to a waiting job
};

}  // namespace partita::policies
