#include <utility>

#include "mig/models/family.h"
#include "mig/models/models.h"

namespace partita::mig {
namespace {

constexpr std::string_view kDerivedNote =
    "memory derived from memory slices (44.25 GiB for two), SMs not established";

constexpr double kBoardWatts = 1000.0;  // NVIDIA B200 datasheet
constexpr double kH200BoardWatts = 700.0;

}  // namespace

GpuModel make_b200_180gb() {
  // 1g and 2g: `nvidia-smi mig -lgip` in mig-parted pull request 166 (20.50 GiB for a 1g on an
  // earlier driver, pull request 187). 3g, 4g, 7g: names and memory slices from the NVIDIA DRA
  // driver; their memory and SMs were in no source.
  std::vector<Profile> profiles = seven_slice_profiles({{
      {"1g.23gb", 22.0, 18},
      {"1g.23gb+me", 22.0, 18},
      {"1g.45gb", 44.25, 30},
      {"2g.45gb", 44.25, 36},
      {"3g.90gb", 88.5, 0, Confidence::kAssumed, kDerivedNote},
      {"4g.90gb", 88.5, 0, Confidence::kAssumed, kDerivedNote},
      {"7g.180gb", 178.0, 0, Confidence::kAssumed, kDerivedNote},
  }});
  std::vector<ChangeSeconds> change_seconds = a100_change_seconds(profiles);
  const GpuModel h200 = make_h200_141gb();
  return {.key = "b200-180gb",
          .title = "NVIDIA B200 180GB",
          .compute_slices = 7,
          .memory_slices = 8,
          .sms_without_mig = 148,  // 74 a die: chipsandcheese.com, "Nvidia's B200", December 2025
          .profiles = std::move(profiles),
          .change_seconds = std::move(change_seconds),
          .change_source = std::string(kA100ChangeSource) + ", carried over",
          .change_confidence = Confidence::kAssumed,
          .power_curves = {scaled_curve(h200.power_curves.front(), kBoardWatts / kH200BoardWatts,
                                        "scaled-h200",
                                        "the H200's calibrated curve times 1000 W / 700 W")}};
}

}  // namespace partita::mig
