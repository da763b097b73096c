// Repartitioner: which layout each GPU should have. The interface a policy author implements.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decide/layout_request.h"
#include "decide/view.h"

namespace partita::decide {

class Repartitioner {
 public:
  virtual ~Repartitioner() = default;

  // The layouts the day begins with, one per GPU; they are there at time 0 and cost nothing.
  virtual std::vector<mig::Layout> initial_layouts(const View& view) = 0;

  // The next instant after `now` at which it wants to be asked; nothing when it never does.
  virtual std::optional<Micros> next_time(Micros now) const = 0;

  // How many arrivals and completions may pass before it is asked again; 0: only at its times.
  virtual std::uint64_t every_events() const { return 0; }

  // Whether it wants to be told of arrivals and of jobs that return, and be asked to relieve them.
  virtual bool watches_arrivals() const { return false; }
  // Whether it asks the view's forecaster, which must then be there.
  virtual bool needs_forecasts() const { return false; }
  // A job came. Called before any decision at that instant.
  virtual void job_arrived(const View&, JobHandle) {}

  // A job that had begun waits again, perhaps for a larger slice; or it waited already when the
  // controller of a live cluster began.
  virtual void job_returned(const View&, JobHandle) {}

  // Asked at every instant, its turn or not, before decide(): what cannot wait for its turn. Must
  // cost next to nothing when there is no such thing.
  virtual void relieve(const View&, std::vector<LayoutRequest>&) {}

  // Somebody who stands between it and the cluster did not follow it: these are the layouts, one a
  // GPU, that GPUs have or are changing to. Gives whether it goes on from there; else what it asked
  // for before is still what it wants.
  virtual bool take_layouts(const View&, std::span<const mig::Layout>) { return false; }

  // A sentence for the log about what it did of its own accord since the last call; empty: nothing.
  virtual std::string take_note() { return {}; }

  // Appends the GPUs that should change. A request for the layout a GPU has or is changing to is
  // ignored.
  virtual void decide(const View& view, std::vector<LayoutRequest>& requests) = 0;
};

}  // namespace partita::decide
