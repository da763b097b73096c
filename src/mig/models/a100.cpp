#include <utility>

#include "mig/models/family.h"
#include "mig/models/models.h"

namespace partita::mig {
namespace {

constexpr int kA100Sms = 108;  // NVIDIA A100 whitepaper; 98 of them remain in MIG mode

// 250 W cap. Watts at 0..7 busy compute slices: SMART-MIG section IV (the figures come from
// CCGrid 2025 and Espenshade et al., EuroMLSys 2024); the rounded ones stand in every notebook of
// the technical report. Not strictly concave: the third slice costs more than the second.
std::vector<PowerCurve> a100_power_curves(Confidence confidence) {
  return {
      {"smart-mig",
       {40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5},
       "SMART-MIG section IV, A100-40GB at a 250 W cap",
       confidence},
      {"tech-report",
       {40, 120, 160, 200, 240, 250, 250, 250},
       "notebooks of the MIG scheduling technical report, A100-40GB at a 250 W cap, rounded",
       confidence},
  };
}

}  // namespace

GpuModel make_a100_40gb() {
  // Memory and SMs: `nvidia-smi mig -lgip` in NVIDIA's MIG user guide.
  std::vector<Profile> profiles = seven_slice_profiles({{
      {"1g.5gb", 4.75, 14},
      {"1g.5gb+me", 4.75, 14, Confidence::kEstablished, "driver R470 or newer"},
      {"1g.10gb", 9.62, 14, Confidence::kEstablished, "driver R525 or newer"},
      {"2g.10gb", 9.62, 28},
      {"3g.20gb", 19.5, 42},
      {"4g.20gb", 19.5, 56, Confidence::kEstablished, "beside a 3g with driver R510 or newer"},
      {"7g.40gb", 39.25, 98},
  }});
  std::vector<ChangeSeconds> change_seconds = a100_change_seconds(profiles);
  return {.key = "a100-40gb",
          .title = "NVIDIA A100 40GB",
          .compute_slices = 7,
          .memory_slices = 8,
          .sms_without_mig = kA100Sms,
          .profiles = std::move(profiles),
          .change_seconds = std::move(change_seconds),
          .change_source = kA100ChangeSource,
          .change_confidence = Confidence::kEstablished,
          .power_curves = a100_power_curves(Confidence::kEstablished)};
}

GpuModel make_a100_80gb() {
  // Memory: go-nvml's table; drivers report 9.50-9.75, 19.5-19.62, 39.25-39.5 and 78.5-79.25 GiB,
  // and some name the largest two 3g.39gb and 7g.79gb. SMs as on the 40 GB board.
  std::vector<Profile> profiles = seven_slice_profiles({{
      {"1g.10gb", 9.62, 14},
      {"1g.10gb+me", 9.62, 14, Confidence::kEstablished, "driver R470 or newer"},
      {"1g.20gb", 19.5, 14, Confidence::kEstablished, "driver R525 or newer"},
      {"2g.20gb", 19.5, 28},
      {"3g.40gb", 39.25, 42, Confidence::kEstablished, "3g.39gb on some drivers"},
      {"4g.40gb", 39.25, 56, Confidence::kEstablished, "beside a 3g with driver R510 or newer"},
      {"7g.80gb", 78.5, 98, Confidence::kEstablished, "7g.79gb on some drivers"},
  }});
  std::vector<ChangeSeconds> change_seconds = a100_change_seconds(profiles);
  return {.key = "a100-80gb",
          .title = "NVIDIA A100 80GB",
          .compute_slices = 7,
          .memory_slices = 8,
          .sms_without_mig = kA100Sms,
          .profiles = std::move(profiles),
          .change_seconds = std::move(change_seconds),
          // The source does not say which A100 it measured.
          .change_source = std::string(kA100ChangeSource) + ", board not stated",
          .change_confidence = Confidence::kAssumed,
          .power_curves = a100_power_curves(Confidence::kAssumed)};
}

}  // namespace partita::mig
