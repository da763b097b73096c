#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "mig/gpu_model.h"
#include "mig/models/models.h"

namespace partita::mig {
namespace {

struct Alias {
  std::string_view name;
  std::string_view key;
};

// Spellings of NVML, Slurm and the vendor's pages, after folding (see folded). The H100 PCIe and
// NVL boards have other SM counts or names and are not here.
constexpr std::array kAliases = std::to_array<Alias>({
    {"a30", "a30-24gb"},
    {"a100", "a100-40gb"},
    {"a100-40", "a100-40gb"},
    {"a100-sxm4-40gb", "a100-40gb"},
    {"a100-pcie-40gb", "a100-40gb"},
    {"a100-80", "a100-80gb"},
    {"a100-sxm4-80gb", "a100-80gb"},
    {"a100-pcie-80gb", "a100-80gb"},
    {"a100-80gb-pcie", "a100-80gb"},
    {"h100", "h100-80gb"},
    {"h100-80", "h100-80gb"},
    {"h100-sxm5", "h100-80gb"},
    {"h100-sxm5-80gb", "h100-80gb"},
    {"h100-80gb-hbm3", "h100-80gb"},
    {"h200", "h200-141gb"},
    {"h200-141", "h200-141gb"},
    {"h200-sxm5-141gb", "h200-141gb"},
    {"b200", "b200-180gb"},
    {"b200-180", "b200-180gb"},
});

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Lower case, one separator, no vendor: "NVIDIA A100-SXM4-40GB" becomes "a100-sxm4-40gb".
std::string folded(std::string_view name) {
  std::string text = lower(trim(name));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '_'; }, '-');
  std::string_view rest = text;
  drop_prefix(rest, "nvidia-");
  return std::string(rest);
}

// A profile name taken apart: "1g.5gb+me" is 1 compute slice, 5 GB, with "+me".
struct ProfileName {
  int compute_slices = 0;
  int memory_gb = 0;
  std::string attributes;
};

// Media engines, all of them, graphics, no media engines. Live GPUs have more of them than the
// parts of the catalogue.
constexpr std::array<std::string_view, 4> kAttributes = {"+me", "+me.all", "+gfx", "-me"};

// Digits at the front of `text`, taken off it.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.front() == '-') return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<ProfileName> parse_name(std::string_view text) {
  ProfileName name;
  const std::optional<int> compute = take_number(text);
  if (!compute || !drop_prefix(text, "g.")) return {};
  const std::optional<int> memory = take_number(text);
  if (!memory || !drop_prefix(text, "gb")) return {};
  name.compute_slices = *compute;
  name.memory_gb = *memory;
  name.attributes = text;
  if (text.starts_with('.')) name.attributes.front() = '+';  // the Kubernetes form
  const bool known = text.empty() || std::ranges::count(kAttributes, name.attributes) == 1;
  if (!known) return {};
  return name;
}

// Drivers round the memory in a name differently (3g.39gb, 7g.79gb, 1g.24gb for 1g.23gb); a
// sibling part's name (1g.12gb for 1g.10gb) is further off.
constexpr double kNameDriftMax = 0.1;

bool same_but_for_drift(const Profile& profile, const ProfileName& wanted) {
  const std::optional<ProfileName> own = parse_name(profile.name);
  // A driver may give names of another form; they go by number only.
  if (!own || own->compute_slices != wanted.compute_slices) return false;
  if (own->attributes != wanted.attributes) return false;
  return std::abs(wanted.memory_gb - own->memory_gb) <= kNameDriftMax * own->memory_gb;
}

std::optional<ProfileIndex> find_by_id(const GpuModel& model, std::int64_t id) {
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if (model.profiles[i].nvml_id == id) return static_cast<ProfileIndex>(i);
  }
  return {};
}

std::optional<ProfileIndex> find_by_name(const GpuModel& model, std::string_view text) {
  const std::optional<ProfileName> wanted = parse_name(text);
  if (!wanted) return {};
  std::optional<ProfileIndex> found;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if (!same_but_for_drift(model.profiles[i], *wanted)) continue;
    if (found) return {};
    found = static_cast<ProfileIndex>(i);
  }
  return found;
}

std::vector<std::string> profile_names(const GpuModel& model) {
  std::vector<std::string> names;
  for (const Profile& profile : model.profiles) names.push_back(profile.name);
  return names;
}

}  // namespace

const std::vector<const GpuModel*>& catalogue() {
  static const std::array models = {make_a30_24gb(),  make_a100_40gb(),  make_a100_80gb(),
                                    make_h100_80gb(), make_h200_141gb(), make_b200_180gb()};
  static const std::vector<const GpuModel*> pointers = [] {
    std::vector<const GpuModel*> all;
    for (const GpuModel& model : models) all.push_back(&model);
    return all;
  }();
  return pointers;
}

Result<const GpuModel*> find_gpu(std::string_view name) {
  std::string key = folded(name);
  const auto alias = std::find_if(kAliases.begin(), kAliases.end(),
                                  [&](const Alias& candidate) { return candidate.name == key; });
  if (alias != kAliases.end()) key = alias->key;
  std::vector<std::string> keys;
  for (const GpuModel* model : catalogue()) {
    if (model->key == key) return model;
    keys.push_back(model->key);
  }
  return unknown_name("GPU", name, keys);
}

Result<const PowerCurve*> find_power_curve(const GpuModel& model, std::string_view name) {
  std::vector<std::string> names;
  for (const PowerCurve& curve : model.power_curves) {
    if (curve.name == lower(trim(name))) return &curve;
    names.push_back(curve.name);
  }
  return unknown_name(model.key + " power curve", name, names);
}

Result<ProfileIndex> parse_profile(const GpuModel& model, std::string_view text) {
  const std::string name = lower(trim(text));
  std::string_view rest = name;
  drop_prefix(rest, "nvidia.com/");
  if (drop_prefix(rest, "mig-") || drop_prefix(rest, "mig ")) rest = trim(rest);
  std::optional<ProfileIndex> found = find_by_name(model, rest);
  if (!found) {
    const std::optional<std::int64_t> id = parse_int(rest);
    if (id) found = find_by_id(model, *id);
  }
  if (found) return *found;
  return unknown_name(model.key + " profile", text, profile_names(model));
}

}  // namespace partita::mig
