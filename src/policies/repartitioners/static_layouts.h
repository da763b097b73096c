// StaticLayouts: every GPU keeps the layout it begins with.
#pragma once

#include <vector>

#include "decide/repartitioner.h"

namespace partita::policies {

class StaticLayouts : public decide::Repartitioner {
 public:
  // One layout a GPU.
  explicit StaticLayouts(std::vector<mig::Layout> layouts) : layouts_(std::move(layouts)) {}

  std::vector<mig::Layout> initial_layouts(const decide::View&) override { return layouts_; }
  std::optional<Micros> next_time(Micros) const override { return {}; }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}

 private:
  std::vector<mig::Layout> layouts_;
};

}  // namespace partita::policies
