// Layout plans as `partita layout` shows them: lines for people, JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device/layouts/layout_plan.h"

namespace partita::cli {

// "GPU 0: create 1g.5gb:2, about 0.16 s".
std::string step_text(const device::GpuPlan& plan, const device::PlanStep& step, bool back);

std::string plans_text(const std::string& label, const std::vector<device::GpuPlan>& plans);
nlohmann::ordered_json plans_json(const std::string& label,
                                  const std::vector<device::GpuPlan>& plans);

// A sentence for each GPU that is not as its plan wants it.
std::vector<std::string> differences_of(const std::vector<device::GpuPlan>& plans);

}  // namespace partita::cli
