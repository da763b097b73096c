#include "device/layouts/layout_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "mig/change.h"

namespace partita::device {
namespace {

// Whole: one compute instance. Others are not what a configuration asks for and never stay.
bool whole(const Occupied& slice) {
  return slice.instance.compute_instances == 1;
}

std::string in_words(const GpuInfo& gpu, const Occupied& slice) {
  std::string text = mig::format_placement(*gpu.model, slice.instance.placement);
  if (!slice.instance.key.uuid.empty()) text += fmt::format(" ({})", slice.instance.key.uuid);
  if (!slice.busy()) return text;
  std::vector<int> pids;
  for (const ProcessUse& process : slice.processes) pids.push_back(process.pid);
  return fmt::format("{} is in use by process{} {}", text, pids.size() == 1 ? "" : "es",
                     fmt::join(pids, ", "));
}

const Occupied* slice_at(const GpuSituation& from, mig::Placement placement) {
  for (const Occupied& slice : from.slices) {
    if (slice.instance.placement == placement) return &slice;
  }
  return nullptr;
}

std::string mix_text(const mig::GpuModel& model, const std::vector<mig::ProfileIndex>& mix) {
  std::vector<std::string> names;
  for (const mig::ProfileIndex profile : mix) names.push_back(model.profiles[profile].name);
  return names.empty() ? "no slice" : fmt::format("{}", fmt::join(names, " + "));
}

PlanStep destroy_step(const mig::GpuModel& model, const Instance& instance) {
  const double seconds = model.change_seconds[instance.placement.profile].destroy;
  return {PlanStep::Kind::kDestroy, instance.placement, instance.key, micros_from_seconds(seconds)};
}

// With MIG off there are no slices; only the mode can have to change.
GpuPlan plan_without_mig(GpuPlan plan) {
  for (const Occupied& slice : plan.from.slices) {
    if (slice.busy()) plan.blocked_by.push_back(slice);
  }
  if (!plan.possible()) return plan;
  for (const Occupied& slice : plan.from.slices) {
    plan.steps.push_back(destroy_step(*plan.from.gpu.model, slice.instance));
  }
  if (plan.from.gpu.mode == MigMode::kEnabled) {
    plan.steps.push_back({PlanStep::Kind::kDisableMig, {}, {}, {}});
  }
  return plan;
}

Result<mig::Layout> target_of(const GpuPlan& plan, const mig::Layout& keepable,
                              std::uint8_t busy_starts) {
  const mig::GpuModel& model = *plan.from.gpu.model;
  if (plan.wish.exact) return *plan.wish.exact;
  const std::optional<mig::Layout> nearest =
      mig::nearest_arrangement(model, keepable, plan.wish.mix, busy_starts);
  if (nearest) return *nearest;
  return Error{fmt::format("GPU {} ({}): {} fits no layout of it; `partita layouts` lists them",
                           plan.from.gpu.id.value, model.key, mix_text(model, plan.wish.mix))};
}

void add_change(GpuPlan& plan, const mig::Layout& keepable) {
  const mig::GpuModel& model = *plan.from.gpu.model;
  for (const Occupied& slice : plan.from.slices) {
    if (!whole(slice)) plan.steps.push_back(destroy_step(model, slice.instance));
  }
  const mig::LayoutChange change = mig::smallest_change(model, keepable, plan.target);
  for (const mig::ChangeStep& step : change.steps) {
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      plan.steps.push_back({PlanStep::Kind::kCreate, step.placement, {}, step.duration});
      continue;
    }
    plan.steps.push_back(destroy_step(model, slice_at(plan.from, step.placement)->instance));
  }
}

}  // namespace

Micros GpuPlan::duration() const {
  Micros total;
  for (const PlanStep& step : steps) total += step.duration;
  return total;
}

Answer<std::vector<GpuSituation>> read_situation(Backend& backend) {
  const Answer<std::vector<GpuInfo>> gpus = backend.gpus();
  if (!gpus) return gpus.error();
  std::vector<GpuSituation> all;
  for (const GpuInfo& gpu : *gpus) {
    if (gpu.trouble) return *gpu.trouble;
    GpuSituation situation{gpu, {}};
    const Answer<std::vector<Instance>> instances = backend.instances(gpu.id);
    if (!instances) return instances.error();
    for (const Instance& instance : *instances) {
      const Answer<std::vector<ProcessUse>> processes = backend.processes(instance.key);
      if (!processes) return processes.error();
      situation.slices.push_back({instance, *processes});
    }
    all.push_back(std::move(situation));
  }
  return all;
}

Result<GpuPlan> plan_gpu(const GpuSituation& from, const GpuWish& wish) {
  GpuPlan plan{from, wish, {}, {}, {}, {}};
  if (!wish.mig_enabled) return plan_without_mig(std::move(plan));
  if (from.gpu.model == nullptr) {
    return Error{fmt::format("GPU {} ({}) has no MIG", from.gpu.id.value, from.gpu.name)};
  }
  mig::Layout keepable;
  std::uint8_t busy_starts = 0;
  for (const Occupied& slice : from.slices) {
    if (!whole(slice)) continue;
    keepable.add(slice.instance.placement);
    if (slice.busy())
      busy_starts |= static_cast<std::uint8_t>(1U << slice.instance.placement.start);
  }
  const Result<mig::Layout> target = target_of(plan, keepable, busy_starts);
  if (!target) return target.error();
  plan.target = *target;
  for (const Occupied& slice : from.slices) {
    const bool stays = whole(slice) && plan.target.contains(slice.instance.placement);
    if (stays) plan.kept.push_back(slice);
    if (!stays && slice.busy()) plan.blocked_by.push_back(slice);
  }
  if (!plan.possible()) return plan;
  if (from.gpu.mode != MigMode::kEnabled) {
    plan.steps.push_back({PlanStep::Kind::kEnableMig, {}, {}, {}});
  }
  add_change(plan, keepable);
  return plan;
}

Result<std::optional<GpuWish>> wish_for(const MigConfig& config, const GpuInfo& gpu) {
  const auto entry = std::find_if(config.rbegin(), config.rend(),
                                  [&](const MigConfigEntry& one) { return one.matches(gpu); });
  if (entry == config.rend()) return std::optional<GpuWish>();
  GpuWish wish;
  wish.mig_enabled = entry->mig_enabled;
  if (!wish.mig_enabled) return std::optional(wish);
  if (gpu.model == nullptr) {
    return Error{fmt::format("GPU {} ({}) has no MIG", gpu.id.value, gpu.name)};
  }
  for (const auto& [name, count] : entry->mig_devices) {
    const Result<mig::ProfileIndex> profile = mig::parse_profile(*gpu.model, name);
    if (!profile) {
      return Error{fmt::format("GPU {}: {}", gpu.id.value, profile.error().message)};
    }
    wish.mix.insert(wish.mix.end(), static_cast<std::size_t>(count), *profile);
  }
  std::ranges::sort(wish.mix);
  return std::optional(wish);
}

std::vector<int> missing_gpus(const MigConfig& config, std::size_t gpus) {
  std::set<int> missing;
  for (const MigConfigEntry& entry : config) {
    for (const int index : entry.devices.value_or(std::vector<int>())) {
      if (static_cast<std::size_t>(index) >= gpus) missing.insert(index);
    }
  }
  return {missing.begin(), missing.end()};
}

Result<std::vector<GpuPlan>> plan_config(const MigConfig& config,
                                         const std::vector<GpuSituation>& situation) {
  std::vector<GpuPlan> plans;
  for (const GpuSituation& one : situation) {
    const Result<std::optional<GpuWish>> wish = wish_for(config, one.gpu);
    if (!wish) return wish.error();
    if (!wish->has_value()) continue;
    // A GPU without MIG is off already.
    if (one.gpu.model == nullptr && !(*wish)->mig_enabled) continue;
    Result<GpuPlan> plan = plan_gpu(one, **wish);
    if (!plan) return plan.error();
    plans.push_back(std::move(*plan));
  }
  if (plans.empty()) return Error{"the configuration matches no GPU of this node"};
  return plans;
}

std::string blocked_sentence(const GpuPlan& plan) {
  CHECK(!plan.possible());
  std::vector<std::string> holders;
  for (const Occupied& slice : plan.blocked_by) {
    holders.push_back(in_words(plan.from.gpu, slice));
  }
  const mig::GpuModel& model = *plan.from.gpu.model;
  std::string wanted = "MIG off";
  if (plan.wish.mig_enabled) {
    wanted = plan.wish.exact ? mig::format_layout(model, *plan.wish.exact)
                             : mix_text(model, plan.wish.mix);
  }
  return fmt::format("GPU {}: {}; no way to {} leaves {} alone", plan.from.gpu.id.value,
                     fmt::join(holders, ", "), wanted, holders.size() == 1 ? "it" : "them");
}

MigConfig config_of(const std::vector<GpuSituation>& situation) {
  MigConfig config;
  for (const GpuSituation& one : situation) {
    if (one.gpu.model == nullptr) continue;
    MigConfigEntry entry;
    entry.device_filter = {one.gpu.pci};
    entry.devices.emplace();
    entry.mig_enabled = one.gpu.mode == MigMode::kEnabled;
    for (const Occupied& slice : one.slices) {
      if (whole(slice)) {
        ++entry.mig_devices[one.gpu.model->profiles[slice.instance.placement.profile].name];
      }
    }
    const auto same = std::ranges::find_if(config, [&](MigConfigEntry other) {
      other.devices->clear();
      return other == entry;
    });
    MigConfigEntry& into = same != config.end() ? *same : config.emplace_back(entry);
    into.devices->push_back(static_cast<int>(one.gpu.id.value));
  }
  // One entry for all of them needs neither numbers nor a filter.
  if (config.size() == 1 && config.front().devices->size() == situation.size()) {
    config.front().devices.reset();
    config.front().device_filter.clear();
  }
  return config;
}

}  // namespace partita::device
