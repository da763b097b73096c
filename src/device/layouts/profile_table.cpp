#include "device/layouts/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"

namespace partita::device {
namespace {

// nvml.h's GPU instance profiles, in their order.
struct ArgumentRow {
  std::string_view name;
  std::string_view attributes;
  bool media = false;
  bool double_memory = false;
};

constexpr std::array kArguments = std::to_array<ArgumentRow>({
    {"1_SLICE", ""},
    {"2_SLICE", ""},
    {"3_SLICE", ""},
    {"4_SLICE", ""},
    {"7_SLICE", ""},
    {"8_SLICE", ""},
    {"6_SLICE", ""},
    {"1_SLICE_REV1", "+me", true},
    {"2_SLICE_REV1", "+me", true},
    {"1_SLICE_REV2", "", false, true},
    {"1_SLICE_GFX", "+gfx"},
    {"2_SLICE_GFX", "+gfx"},
    {"4_SLICE_GFX", "+gfx"},
    {"1_SLICE_NO_ME", "-me"},
    {"2_SLICE_NO_ME", "-me"},
    {"1_SLICE_ALL_ME", "+me.all", true},
    {"2_SLICE_ALL_ME", "+me.all", true},
    {"3_SLICE_GFX", "+gfx"},
});

ArgumentRow argument_row(unsigned argument) {
  if (argument < kArguments.size()) return kArguments[argument];
  return {"of a newer driver", ""};
}

// The field's rule for a profile's name: its share of the GPU's memory in eighths, in GB.
std::string computed_name(const DriverProfile& profile, std::int64_t memory_mib) {
  const double share = static_cast<double>(profile.info.memory_size_mb) /
                       static_cast<double>(std::max<std::int64_t>(memory_mib, 1));
  const double total_gib = std::ceil(static_cast<double>(memory_mib) / 1024);
  const double gib = std::round(std::ceil(std::min(share, 1.0) * 8) / 8 * total_gib);
  return fmt::format("{}g.{:.0f}gb{}", profile.info.slice_count, gib,
                     argument_row(profile.argument).attributes);
}

// The driver's own name without its "MIG ", or the computed one where it gives none.
std::string name_of(const DriverProfile& profile, std::int64_t memory_mib) {
  const auto& raw = profile.info.name;
  std::string_view name(raw, static_cast<std::size_t>(std::find(raw, std::end(raw), '\0') - raw));
  if (name.starts_with("MIG ")) name.remove_prefix(4);
  const auto readable = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
  };
  if (name.empty() || !std::ranges::all_of(name, readable)) {
    return computed_name(profile, memory_mib);
  }
  return std::string(name);
}

Status check_placements(const DriverProfile& profile) {
  if (profile.placements.empty()) return Error{"no placement"};
  const unsigned size = profile.placements.front().size;
  for (const nvml::GpuInstancePlacement placement : profile.placements) {
    if (placement.size != size) return Error{"placements of different sizes"};
    if (size < 1 || size > mig::kMemorySlicesMax ||
        placement.start > static_cast<unsigned>(mig::kMemorySlicesMax) - size) {
      return Error{fmt::format("a placement at {}:{}, beyond {} memory slices", placement.start,
                               placement.size, mig::kMemorySlicesMax)};
    }
  }
  return {};
}

Status check_profile(const DriverProfile& profile) {
  const nvml::GpuInstanceProfileV2& info = profile.info;
  if (info.slice_count < 1 || info.slice_count > mig::kComputeSlicesMax) {
    return Error{fmt::format("{} compute slices", info.slice_count)};
  }
  if (info.instance_count < 1) return Error{"no instance of it"};
  constexpr unsigned long long kMemoryMax = 1ULL << 30U;  // a pebibyte, in MiB
  if (info.memory_size_mb < 1 || info.memory_size_mb > kMemoryMax) {
    return Error{fmt::format("{} MiB of memory", info.memory_size_mb)};
  }
  constexpr unsigned kCountMax = 1U << 20U;
  if (info.id > kCountMax || info.instance_count > kCountMax ||
      info.multiprocessor_count > kCountMax) {
    return Error{"a count beyond reason"};
  }
  return check_placements(profile);
}

mig::Profile checked_profile(const DriverProfile& from, std::int64_t memory_mib) {
  const ArgumentRow row = argument_row(from.argument);
  mig::Profile profile{.name = name_of(from, memory_mib),
                       .nvml_id = static_cast<int>(from.info.id),
                       .nvml_enum = std::string(row.name),
                       .compute_slices = static_cast<int>(from.info.slice_count),
                       .memory_slices = static_cast<int>(from.placements.front().size),
                       .memory_gib = static_cast<double>(from.info.memory_size_mb) / 1024,
                       .sms = static_cast<int>(from.info.multiprocessor_count),
                       .instances_max = static_cast<int>(from.info.instance_count),
                       .starts = {},
                       .media = row.media,
                       .double_memory = row.double_memory,
                       .confidence = mig::Confidence::kEstablished,
                       .note = "as the driver says"};
  std::set<std::uint8_t> starts;
  for (const nvml::GpuInstancePlacement placement : from.placements) {
    starts.insert(static_cast<std::uint8_t>(placement.start));
  }
  profile.starts.assign(starts.begin(), starts.end());
  return profile;
}

Result<std::vector<mig::Profile>> checked_profiles(std::span<const DriverProfile> table,
                                                   std::int64_t memory_mib) {
  std::vector<mig::Profile> profiles;
  std::set<int> ids;
  for (const DriverProfile& from : table) {
    const Status status = check_profile(from);
    if (!status) {
      return Error{
          fmt::format("the driver's profile {} has {}", from.info.id, status.error().message)};
    }
    profiles.push_back(checked_profile(from, memory_mib));
    if (!ids.insert(profiles.back().nvml_id).second) {
      return Error{fmt::format("the driver has profile {} twice", from.info.id)};
    }
  }
  if (profiles.empty()) return Error{"the driver has no MIG profile for it"};
  if (profiles.size() > mig::kProfilesMax) {
    return Error{fmt::format("the driver has {} MIG profiles, and at most {} are understood",
                             profiles.size(), mig::kProfilesMax)};
  }
  // The catalogue's order, so that a part has the same indices whoever describes it.
  std::ranges::sort(profiles, {}, [](const mig::Profile& profile) {
    return std::tuple(profile.compute_slices, profile.memory_slices, profile.media,
                      profile.nvml_id);
  });
  return profiles;
}

// The catalogue's part with this name and these slices.
const mig::GpuModel* same_part(std::string_view gpu_name, const mig::GpuModel& live) {
  const Result<const mig::GpuModel*> found = mig::find_gpu(gpu_name);
  if (!found || (*found)->memory_slices != live.memory_slices) return nullptr;
  return (*found)->compute_slices == live.compute_slices ? *found : nullptr;
}

// The part of the catalogue whose figures are carried over to an unknown one.
const mig::GpuModel& sibling(const mig::GpuModel& live) {
  const Result<const mig::GpuModel*> found =
      mig::find_gpu(live.compute_slices <= 4 ? "a30-24gb" : "a100-40gb");
  CHECK(found.ok());
  return **found;
}

mig::ChangeSeconds change_of(const mig::GpuModel& like, const mig::Profile& profile) {
  std::size_t nearest = 0;
  const auto distance = [&](std::size_t i) {
    const mig::Profile& other = like.profiles[i];
    return std::tuple(std::abs(other.compute_slices - profile.compute_slices),
                      std::abs(other.memory_slices - profile.memory_slices),
                      other.media != profile.media);
  };
  for (std::size_t i = 1; i < like.profiles.size(); ++i) {
    if (distance(i) < distance(nearest)) nearest = i;
  }
  return like.change_seconds[nearest];
}

void carry_over(const mig::GpuModel& like, bool same, mig::GpuModel& live) {
  for (const mig::Profile& profile : live.profiles) {
    live.change_seconds.push_back(change_of(like, profile));
  }
  live.change_source = same ? like.change_source : like.change_source + ", carried over";
  live.change_confidence = same ? like.change_confidence : mig::Confidence::kAssumed;
  live.power_curves = like.power_curves;
  if (same) return;
  for (mig::PowerCurve& curve : live.power_curves) {
    curve.confidence = mig::Confidence::kAssumed;
    curve.watts.resize(static_cast<std::size_t>(live.compute_slices) + 1, curve.watts.back());
  }
}

}  // namespace

Result<mig::GpuModel> model_from_driver(std::string_view gpu_name, std::int64_t memory_mib,
                                        std::span<const DriverProfile> table) {
  Result<std::vector<mig::Profile>> profiles = checked_profiles(table, memory_mib);
  if (!profiles) return Error{fmt::format("{}: {}", gpu_name, profiles.error().message)};
  mig::GpuModel model;
  model.profiles = std::move(*profiles);
  for (const mig::Profile& profile : model.profiles) {
    model.compute_slices = std::max(model.compute_slices, profile.compute_slices);
    model.memory_slices =
        std::max(model.memory_slices, profile.starts.back() + profile.memory_slices);
    model.sms_without_mig = std::max(model.sms_without_mig, profile.sms);
  }
  const mig::GpuModel* const part = same_part(gpu_name, model);
  model.title = gpu_name;
  model.key = part != nullptr ? part->key : lower(gpu_name);
  std::ranges::replace(model.key, ' ', '-');
  if (part != nullptr) model.sms_without_mig = part->sms_without_mig;
  carry_over(part != nullptr ? *part : sibling(model), part != nullptr, model);
  return model;
}

}  // namespace partita::device
