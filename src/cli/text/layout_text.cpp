#include "cli/text/layout_text.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace partita::cli {
namespace {

using device::GpuInfo;
using device::GpuPlan;
using device::MigMode;
using device::Occupied;
using device::PlanStep;
using nlohmann::ordered_json;

std::string verb_of(PlanStep::Kind kind) {
  static constexpr std::array<const char*, 4> kVerbs = {"enable MIG", "destroy", "create",
                                                        "disable MIG"};
  return kVerbs.at(static_cast<std::size_t>(kind));
}

bool about_slice(const PlanStep& step) {
  return step.kind == PlanStep::Kind::kDestroy || step.kind == PlanStep::Kind::kCreate;
}

std::string holders(const Occupied& slice) {
  std::vector<int> pids;
  for (const device::ProcessUse& process : slice.processes) pids.push_back(process.pid);
  if (pids.empty()) return "idle";
  return fmt::format("in use by process{} {}", pids.size() == 1 ? "" : "es", fmt::join(pids, ", "));
}

ordered_json placement_json(const mig::GpuModel& model, mig::Placement placement) {
  const mig::Profile& profile = model.profiles[placement.profile];
  ordered_json json;
  json["profile"] = profile.name;
  json["start"] = placement.start;
  json["size"] = profile.memory_slices;
  return json;
}

ordered_json slice_json(const mig::GpuModel& model, const Occupied& slice) {
  ordered_json json = placement_json(model, slice.instance.placement);
  json["uuid"] = slice.instance.key.uuid;
  json["gi"] = slice.instance.key.gi;
  json["pids"] = ordered_json::array();
  for (const device::ProcessUse& process : slice.processes) json["pids"].push_back(process.pid);
  return json;
}

ordered_json step_json(const GpuPlan& plan, const PlanStep& step) {
  static constexpr std::array<const char*, 4> kActions = {"enable-mig", "destroy", "create",
                                                          "disable-mig"};
  ordered_json json;
  json["action"] = kActions.at(static_cast<std::size_t>(step.kind));
  if (!about_slice(step)) return json;
  json.update(placement_json(*plan.from.gpu.model, step.placement));
  if (step.kind == PlanStep::Kind::kDestroy) json["uuid"] = step.key.uuid;
  json["seconds"] = step.duration.to_seconds();
  return json;
}

ordered_json plan_json(const GpuPlan& plan) {
  const GpuInfo& gpu = plan.from.gpu;
  ordered_json json;
  json["gpu"] = gpu.id.value;
  json["uuid"] = gpu.uuid;
  json["name"] = gpu.name;
  json["possible"] = plan.possible();
  json["seconds"] = plan.duration().to_seconds();
  json["steps"] = ordered_json::array();
  json["kept"] = ordered_json::array();
  json["blocked_by"] = ordered_json::array();
  for (const PlanStep& step : plan.steps) json["steps"].push_back(step_json(plan, step));
  for (const Occupied& slice : plan.kept) json["kept"].push_back(slice_json(*gpu.model, slice));
  for (const Occupied& slice : plan.blocked_by) {
    json["blocked_by"].push_back(slice_json(*gpu.model, slice));
  }
  return json;
}

// "3g.20gb, 2 x 1g.5gb": the largest first.
std::string counted(const mig::GpuModel& model, const std::map<mig::ProfileIndex, int>& counts) {
  std::vector<std::string> parts;
  for (auto it = counts.rbegin(); it != counts.rend(); ++it) {
    const std::string& name = model.profiles[it->first].name;
    parts.push_back(it->second == 1 ? name : fmt::format("{} x {}", it->second, name));
  }
  return parts.empty() ? "no slice" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string plan_text(const GpuPlan& plan) {
  const GpuInfo& gpu = plan.from.gpu;
  std::string text = fmt::format("GPU {}  {}  {}\n", gpu.id.value, gpu.name, gpu.uuid);
  for (const Occupied& slice : plan.kept) {
    text += fmt::format("  keep        {:<14} {}  {}\n",
                        mig::format_placement(*gpu.model, slice.instance.placement),
                        slice.instance.key.uuid, holders(slice));
  }
  if (!plan.possible()) return text + "  impossible  " + device::blocked_sentence(plan) + "\n";
  if (plan.steps.empty()) text += "  nothing to do\n";
  for (const PlanStep& step : plan.steps) {
    if (!about_slice(step)) {
      text += fmt::format("  {}\n", verb_of(step.kind));
      continue;
    }
    text +=
        fmt::format("  {:<11} {:<14} about {:.2f} s{}\n", verb_of(step.kind),
                    mig::format_placement(*gpu.model, step.placement), step.duration.to_seconds(),
                    step.key.uuid.empty() ? "" : "  " + step.key.uuid);
  }
  return text;
}

}  // namespace

std::string step_text(const GpuPlan& plan, const PlanStep& step, bool back) {
  const GpuInfo& gpu = plan.from.gpu;
  const std::string what = (back ? "taking back: " : "") + verb_of(step.kind);
  if (!about_slice(step)) return fmt::format("GPU {}: {}", gpu.id.value, what);
  return fmt::format("GPU {}: {} {}, about {:.2f} s", gpu.id.value, what,
                     mig::format_placement(*gpu.model, step.placement), step.duration.to_seconds());
}

std::string plans_text(const std::string& label, const std::vector<GpuPlan>& plans) {
  std::string text;
  std::size_t steps = 0;
  bool possible = true;
  bool modes = false;
  Micros total;
  for (const GpuPlan& plan : plans) {
    text += plan_text(plan);
    steps += plan.steps.size();
    possible = possible && plan.possible();
    total += plan.duration();
    for (const PlanStep& step : plan.steps) modes = modes || !about_slice(step);
  }
  if (!possible) return text + fmt::format("\n{}: impossible now\n", label);
  return text + fmt::format("\n{}: {} step{}, about {:.2f} s{}\n", label, steps,
                            steps == 1 ? "" : "s", total.to_seconds(),
                            modes ? " and the time of the change of mode" : "");
}

ordered_json plans_json(const std::string& label, const std::vector<GpuPlan>& plans) {
  ordered_json json;
  json["config"] = label;
  json["possible"] = true;
  json["steps"] = 0;
  json["seconds"] = 0.0;
  json["gpus"] = ordered_json::array();
  Micros total;
  std::size_t steps = 0;
  for (const GpuPlan& plan : plans) {
    if (!plan.possible()) json["possible"] = false;
    total += plan.duration();
    steps += plan.steps.size();
    json["gpus"].push_back(plan_json(plan));
  }
  json["steps"] = steps;
  json["seconds"] = total.to_seconds();
  return json;
}

std::vector<std::string> differences_of(const std::vector<GpuPlan>& plans) {
  std::vector<std::string> differences;
  for (const GpuPlan& plan : plans) {
    const GpuInfo& gpu = plan.from.gpu;
    const bool enabled = gpu.mode == MigMode::kEnabled;
    if (enabled != plan.wish.mig_enabled) {
      differences.push_back(fmt::format("GPU {}: MIG is {}, and {} is wanted", gpu.id.value,
                                        enabled ? "on" : "off", enabled ? "off" : "on"));
      continue;
    }
    if (!enabled) continue;
    std::map<mig::ProfileIndex, int> there;
    std::map<mig::ProfileIndex, int> wanted;
    int halves = 0;
    for (const Occupied& slice : plan.from.slices) {
      const bool whole = slice.instance.compute_instances == 1;
      if (whole) ++there[slice.instance.placement.profile];
      halves += whole ? 0 : 1;
    }
    for (const mig::ProfileIndex profile : plan.wish.mix) ++wanted[profile];
    if (there == wanted && halves == 0) continue;
    differences.push_back(fmt::format(
        "GPU {}: there is {}{}, and {} is wanted", gpu.id.value, counted(*gpu.model, there),
        halves == 0 ? "" : fmt::format(" and {} half-made", halves), counted(*gpu.model, wanted)));
  }
  return differences;
}

}  // namespace partita::cli
