#include <utility>

#include "mig/models/family.h"
#include "mig/models/models.h"

namespace partita::mig {
namespace {

constexpr std::size_t kWorkloads = 5;
constexpr std::size_t kWidths = 7;

struct MeasuredWatts {
  const char* name;
  std::array<double, kWidths> watts;
};

// Board power while one workload was confined to 16, 32, 48, 64, 80, 96 and 132 SMs: one to six
// slices of 16 SMs, and the 7g. Our own measurement on an H200 (driver 580.159.04, 700 W limit,
// windows of 2.6 s of NVML's energy counter), by CUDA green contexts with MIG mode off: a slice
// also has a fixed share of L2 and bandwidth, which a green context has not, so only the
// compute-bound workloads stand here. Seven 1g have 112 SMs together and draw less than the 7g.
constexpr std::array<MeasuredWatts, kWorkloads> kMeasured = {{
    {"gemm-bf16", {299.0, 454.2, 594.2, 688.6, 689.1, 691.8, 715.5}},
    {"bert-train-b64", {235.3, 316.3, 375.7, 398.6, 379.2, 397.3, 386.5}},
    {"bert-infer-b64", {231.1, 321.1, 401.8, 451.6, 507.2, 488.6, 466.5}},
    {"resnet50-infer-b64", {219.9, 285.0, 344.4, 390.7, 434.7, 454.7, 526.0}},
    {"resnet50-train-b128", {223.0, 307.0, 360.8, 418.4, 471.8, 493.7, 562.7}},
}};

// Same measurement: 84-86 W with no process on the GPU, 117-120 W with an idle CUDA context.
constexpr double kIdleWatts = 85.0;
constexpr double kIdleContextWatts = 118.5;

constexpr const char* kMeasuredSource =
    "measured on an H200 by SM share (green contexts, MIG off), 16 SMs a slice, 132 at seven";

PowerCurve mean_curve(const char* name, double idle_watts, const char* idle) {
  PowerCurve curve{name, {idle_watts}, {}, Confidence::kEstablished};
  curve.source =
      std::string("mean of five compute-bound workloads ") + kMeasuredSource + "; " + idle;
  for (std::size_t width = 0; width < kWidths; ++width) {
    double sum = 0;
    for (const MeasuredWatts& measured : kMeasured) sum += measured.watts[width];
    curve.watts.push_back(sum / kWorkloads);
  }
  return curve;
}

std::vector<PowerCurve> h200_power_curves() {
  std::vector<PowerCurve> curves = {
      mean_curve("calibrated", kIdleWatts, "idle without a process"),
      mean_curve("calibrated-context", kIdleContextWatts, "idle with a CUDA context held"),
  };
  for (const MeasuredWatts& measured : kMeasured) {
    PowerCurve curve{measured.name, {kIdleWatts}, kMeasuredSource, Confidence::kEstablished};
    curve.watts.insert(curve.watts.end(), measured.watts.begin(), measured.watts.end());
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace

GpuModel make_h200_141gb() {
  // Read off a real H200 (driver 580.159.04) through NVML with MIG mode off. mig-parted issue 120
  // shows 32.25, 69.50 and 139.75 GiB on an older driver. On Hopper SMs do not follow the compute
  // slices: double memory and the 3g have more.
  std::vector<Profile> profiles = seven_slice_profiles({{
      {"1g.18gb", 16.0, 16},
      {"1g.18gb+me", 16.0, 16},
      {"1g.35gb", 32.5, 26},
      {"2g.35gb", 32.5, 32},
      {"3g.71gb", 69.75, 60},
      {"4g.71gb", 69.75, 64},
      {"7g.141gb", 140.0, 132},
  }});
  std::vector<ChangeSeconds> change_seconds = a100_change_seconds(profiles);
  return {.key = "h200-141gb",
          .title = "NVIDIA H200 141GB",
          .compute_slices = 7,
          .memory_slices = 8,
          .sms_without_mig = 132,  // read off the same GPU
          .profiles = std::move(profiles),
          .change_seconds = std::move(change_seconds),
          .change_source = std::string(kA100ChangeSource) + ", carried over",
          .change_confidence = Confidence::kAssumed,
          .power_curves = h200_power_curves()};
}

}  // namespace partita::mig
