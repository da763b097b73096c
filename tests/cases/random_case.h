// Random small cases, drawn so that ties, simultaneous events and odd jobs are frequent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cases/case.h"

namespace partita::cases {

struct Draw {
  std::uint64_t seed = 1;
  std::string scheduler = "edf-ss";
  std::size_t jobs_max = 25;
  std::uint32_t gpus_min = 1;
  std::uint32_t gpus_max = 4;
  // Now and then a job that no layout of the case can run, or none for long enough. If not, every
  // job fits the layouts of the last switch of the day, which last for hours.
  bool may_be_stuck = true;
  // Drawn too, when it is not given.
  std::optional<decide::Preemption::Mode> preemption = {};
  // Most jobs hold more memory as they go, and need more than is believed.
  bool memory_grows = false;
};

// The same draw gives the same case.
Case random_case(const Draw& draw);

}  // namespace partita::cases
