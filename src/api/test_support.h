// What tests and fuzz targets of the interface share: policies that do nothing, and two users.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decide/repartitioner.h"
#include "decide/scheduler.h"

namespace partita::api::test {

// A scheduler and a repartitioner that do nothing: the interface needs none.
class Idle : public decide::Scheduler {
 public:
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle) override {}
  void job_stopped(const decide::View&, cluster::JobHandle) override {}
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle) override {}
  void job_returned(const decide::View&, cluster::JobHandle) override {}
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View&, decide::Decision&) override {}
};
class Still : public decide::Repartitioner {
 public:
  std::vector<mig::Layout> initial_layouts(const decide::View&) override { return {mig::Layout{}}; }
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}
};

inline constexpr std::uint32_t kAnn = 1000;
inline constexpr std::uint32_t kBob = 1001;

}  // namespace partita::api::test
