#include <utility>

#include "mig/models/family.h"
#include "mig/models/models.h"

namespace partita::mig {

GpuModel make_h100_80gb() {
  // SXM5 board. Memory and SMs: `nvidia-smi mig -lgip` as published at jbarrow.ai/field_notes/
  // nvidia-mig, placements from NVIDIA's MIG user guide. The PCIe board's 7g has 114 SMs.
  std::vector<Profile> profiles = seven_slice_profiles({{
      {"1g.10gb", 9.75, 16},
      {"1g.10gb+me", 9.75, 16},
      {"1g.20gb", 19.62, 26},
      {"2g.20gb", 19.62, 32},
      {"3g.40gb", 39.5, 60},
      {"4g.40gb", 39.5, 64},
      {"7g.80gb", 79.25, 132},
  }});
  std::vector<ChangeSeconds> change_seconds = a100_change_seconds(profiles);
  // Same SMs and the same 700 W board limit as the H200, so the factor is 1.
  const GpuModel h200 = make_h200_141gb();
  return {.key = "h100-80gb",
          .title = "NVIDIA H100 SXM5 80GB",
          .compute_slices = 7,
          .memory_slices = 8,
          .sms_without_mig = 132,  // NVIDIA H100 whitepaper, SXM5
          .profiles = std::move(profiles),
          .change_seconds = std::move(change_seconds),
          .change_source = std::string(kA100ChangeSource) + ", carried over",
          .change_confidence = Confidence::kAssumed,
          .power_curves = {scaled_curve(h200.power_curves.front(), 1.0, "scaled-h200",
                                        "the H200's calibrated curve; same SMs and board limit")}};
}

}  // namespace partita::mig
