#include "mig/models/family.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace partita::mig {
namespace {

struct Shape {
  int nvml_id;
  const char* nvml_enum;
  int compute_slices;
  int memory_slices;
  int instances_max;
  std::vector<std::uint8_t> starts;
  bool media;
  bool double_memory;
};

// Ids, placements and limits: NVIDIA's MIG user guide, `nvidia-smi mig -lgip` and `-lgipp` of an
// A100-40GB; read off a real H200 (driver 580.159.04) with the same result. A 3g takes four memory
// slices, so its placement size is 4 and not 3.
const std::vector<Shape>& seven_slice_shapes() {
  static const std::vector<Shape> shapes = {
      {19, "1_SLICE", 1, 1, 7, {0, 1, 2, 3, 4, 5, 6}, false, false},
      {20, "1_SLICE_REV1", 1, 1, 1, {0, 1, 2, 3, 4, 5, 6}, true, false},
      {15, "1_SLICE_REV2", 1, 2, 4, {0, 2, 4, 6}, false, true},
      {14, "2_SLICE", 2, 2, 3, {0, 2, 4}, false, false},
      {9, "3_SLICE", 3, 4, 2, {0, 4}, false, false},
      {5, "4_SLICE", 4, 4, 1, {0}, false, false},
      {0, "7_SLICE", 7, 8, 1, {0}, false, false},
  };
  return shapes;
}

// artecs RL_MIG_scheduler, utils.py reconfig_time_map: GPU instance with its compute instance. The
// log does not tell +me and double-memory instances apart; they get the figure of a 1g.
ChangeSeconds a100_seconds(int compute_slices) {
  switch (compute_slices) {
    case 1:
      return {0.16, 0.20};
    case 2:
      return {0.17, 0.20};
    case 3:
      return {0.20, 0.21};
    case 4:
      return {0.21, 0.21};
    default:
      CHECK(compute_slices == 7);
      return {0.24, 0.22};
  }
}

}  // namespace

const char* const kA100ChangeSource = "artecs RL_MIG_scheduler, measured on an A100";

std::vector<Profile> seven_slice_profiles(
    const std::array<SliceFigures, kSevenSliceProfiles>& figures) {
  const std::vector<Shape>& shapes = seven_slice_shapes();
  CHECK(shapes.size() == figures.size());
  std::vector<Profile> profiles;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Shape& shape = shapes[i];
    profiles.push_back({.name = std::string(figures[i].name),
                        .nvml_id = shape.nvml_id,
                        .nvml_enum = shape.nvml_enum,
                        .compute_slices = shape.compute_slices,
                        .memory_slices = shape.memory_slices,
                        .memory_gib = figures[i].memory_gib,
                        .sms = figures[i].sms,
                        .instances_max = shape.instances_max,
                        .starts = shape.starts,
                        .media = shape.media,
                        .double_memory = shape.double_memory,
                        .confidence = figures[i].confidence,
                        .note = std::string(figures[i].note)});
  }
  return profiles;
}

std::vector<ChangeSeconds> a100_change_seconds(const std::vector<Profile>& profiles) {
  std::vector<ChangeSeconds> seconds;
  for (const Profile& profile : profiles) seconds.push_back(a100_seconds(profile.compute_slices));
  return seconds;
}

PowerCurve scaled_curve(const PowerCurve& curve, double factor, std::string name,
                        std::string source) {
  CHECK(factor > 0);
  PowerCurve scaled{std::move(name), curve.watts, std::move(source), Confidence::kAssumed};
  // To a hundredth of a watt: more digits would say more than a carried-over curve knows.
  for (double& watts : scaled.watts) watts = std::round(watts * factor * 100) / 100;
  return scaled;
}

}  // namespace partita::mig
