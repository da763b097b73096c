// What several GPU models have in common: the 7-slice profile table, and figures carried over from
// one part to another.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "mig/gpu_model.h"

namespace partita::mig {

// The part of a profile that differs between the 7-slice GPUs.
struct SliceFigures {
  std::string_view name;
  double memory_gib;
  int sms;
  Confidence confidence = Confidence::kEstablished;
  std::string_view note = {};
};

inline constexpr std::size_t kSevenSliceProfiles = 7;

// Profiles of a GPU with 7 compute and 8 memory slices. Rows: 1g, 1g+me, 1g with double memory,
// 2g, 3g, 4g, 7g; every model of the family has these at the same indices.
std::vector<Profile> seven_slice_profiles(
    const std::array<SliceFigures, kSevenSliceProfiles>& figures);

// Create and destroy seconds measured on an A100, by the compute slices of each profile.
std::vector<ChangeSeconds> a100_change_seconds(const std::vector<Profile>& profiles);
extern const char* const kA100ChangeSource;

// `curve` with every figure multiplied by `factor`; always assumed.
PowerCurve scaled_curve(const PowerCurve& curve, double factor, std::string name,
                        std::string source);

}  // namespace partita::mig
