// The configurations of `partita layout generate-config`.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "device/layouts/layout_plan.h"
#include "mig/enumerate.h"

namespace partita::device {
namespace {

using Mix = std::map<std::string, int>;

// Configurations by label, in the order they were first met; entries of several parts share one.
class Collection {
 public:
  explicit Collection(bool several_parts) : several_parts_(several_parts) {}

  void add(const std::string& label, const GpuInfo& gpu, const Mix& mix) {
    MigConfigEntry entry;
    if (several_parts_) entry.device_filter = {gpu.pci};
    entry.mig_enabled = true;
    entry.mig_devices = mix;
    MigConfig& config = at(label);
    if (std::ranges::count(config, entry) == 0) config.push_back(std::move(entry));
  }

  MigConfig& at(const std::string& label) {
    for (auto& [name, config] : file_.configs) {
      if (name == label) return config;
    }
    return file_.configs.emplace_back(label, MigConfig()).second;
  }

  MigConfigFile file() && { return std::move(file_); }

 private:
  bool several_parts_;
  MigConfigFile file_;
};

Mix mix_of(const mig::GpuModel& model, const mig::Layout& layout) {
  Mix mix;
  for (const mig::Placement placement : layout.instances()) {
    ++mix[model.profiles[placement.profile].name];
  }
  return mix;
}

// "mix-4g.20gb-2g.10gb-2x1g.5gb": the largest first.
std::string label_of(const mig::GpuModel& model, const Mix& mix) {
  std::vector<std::string> parts;
  for (auto profile = model.profiles.rbegin(); profile != model.profiles.rend(); ++profile) {
    const auto found = mix.find(profile->name);
    if (found == mix.end()) continue;
    parts.push_back(found->second == 1 ? found->first
                                       : fmt::format("{}x{}", found->second, found->first));
  }
  return fmt::format("mix-{}", fmt::join(parts, "-"));
}

// Of the layouts that use one profile only, the one with the most of it.
int most_of(const mig::GpuModel& model, mig::ProfileIndex profile) {
  mig::Layout layout;
  for (const std::uint8_t start : model.profiles[profile].starts) {
    if (mig::fits(model, layout, {profile, start})) layout.add({profile, start});
  }
  return static_cast<int>(layout.instances().size());
}

// What mig-parted calls balanced: two 1g, one 2g and, where there is space, one 3g.
Mix balanced(const mig::GpuModel& model) {
  Mix mix;
  for (const mig::Profile& profile : model.profiles) {
    if (!profile.plain()) continue;
    if (profile.compute_slices == 1) mix[profile.name] = 2;
    if (profile.compute_slices == 2) mix[profile.name] = 1;
    if (profile.compute_slices == 3) mix[profile.name] = 1;
  }
  return mix;
}

void add_part(Collection& all, const GpuInfo& gpu) {
  const mig::GpuModel& model = *gpu.model;
  all.add("all-balanced", gpu, balanced(model));
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const auto index = static_cast<mig::ProfileIndex>(i);
    const std::string& name = model.profiles[i].name;
    all.add("all-" + name, gpu, {{name, most_of(model, index)}});
  }
  const auto layouts = mig::maximal_layouts(model, {.double_memory = true, .media = false});
  for (const mig::Layout& layout : mig::distinct_mixes(model, layouts)) {
    const Mix mix = mix_of(model, layout);
    if (mix.size() > 1) all.add(label_of(model, mix), gpu, mix);
  }
}

}  // namespace

MigConfigFile useful_configs(const std::vector<GpuInfo>& gpus) {
  std::map<std::uint32_t, const GpuInfo*> parts;
  for (const GpuInfo& gpu : gpus) {
    if (gpu.model != nullptr) parts.emplace(gpu.pci, &gpu);
  }
  Collection all(parts.size() > 1);
  all.at("all-disabled").push_back({{}, {}, false, {}});
  all.at("all-enabled").push_back({{}, {}, true, {}});
  for (const auto& [pci, gpu] : parts) add_part(all, *gpu);
  return std::move(all).file();
}

}  // namespace partita::device
