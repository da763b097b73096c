// Repartitioner: which layout each GPU should have. The interface a policy author implements.
#pragma once

#include <optional>
#include <vector>

#include "decide/view.h"
#include "mig/layout.h"

namespace partita::decide {

struct LayoutRequest {
  GpuId gpu;
  mig::Layout layout;
};

class Repartitioner {
 public:
  virtual ~Repartitioner() = default;

  // The layouts the day begins with, one per GPU; they are there at time 0 and cost nothing.
  virtual std::vector<mig::Layout> initial_layouts(const View& view) = 0;

  // The next instant after `now` at which it wants to be asked; nothing when it never does.
  virtual std::optional<Micros> next_time(Micros now) const = 0;

  // Appends the GPUs that should change. A request for the layout a GPU has or is changing to is
  // ignored.
  virtual void decide(const View& view, std::vector<LayoutRequest>& requests) = 0;
};

}  // namespace partita::decide
