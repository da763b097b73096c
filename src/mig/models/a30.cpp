#include <utility>

#include "mig/models/models.h"

namespace partita::mig {
namespace {

// Profiles, placements, memory, SMs: `nvidia-smi mig -lgip` and `-lgipp` of an A30 in NVIDIA's MIG
// user guide. One +me in all: the guide allows one of each size; that the two exclude each other
// follows from the single media engine and is not confirmed on hardware.
std::vector<Profile> a30_profiles() {
  const auto profile = [](const char* name, int id, const char* nvml_enum, int slices,
                          double memory_gib, int instances_max, std::vector<std::uint8_t> starts,
                          bool media, const char* note) {
    return Profile{.name = name,
                   .nvml_id = id,
                   .nvml_enum = nvml_enum,
                   .compute_slices = slices,
                   .memory_slices = slices,
                   .memory_gib = memory_gib,
                   .sms = 14 * slices,
                   .instances_max = instances_max,
                   .starts = std::move(starts),
                   .media = media,
                   .double_memory = false,
                   .confidence = Confidence::kEstablished,
                   .note = note};
  };
  return {
      profile("1g.6gb", 14, "1_SLICE", 1, 5.81, 4, {0, 1, 2, 3}, false, ""),
      profile("1g.6gb+me", 21, "1_SLICE_REV1", 1, 5.81, 1, {0, 1, 2, 3}, true,
              "driver R470 or newer"),
      profile("2g.12gb", 5, "2_SLICE", 2, 11.69, 2, {0, 2}, false, ""),
      profile("2g.12gb+me", 6, "2_SLICE_REV1", 2, 11.69, 1, {0, 2}, true, "driver R525 or newer"),
      profile("4g.24gb", 0, "4_SLICE", 4, 23.44, 1, {0}, false, ""),
  };
}

}  // namespace

GpuModel make_a30_24gb() {
  return {
      .key = "a30-24gb",
      .title = "NVIDIA A30 24GB",
      .compute_slices = 4,
      .memory_slices = 4,
      .sms_without_mig = 56,  // NVIDIA A30 datasheet: all of them are in the 4g
      .profiles = a30_profiles(),
      // 1g and 2g: log in the README of FAR (artecs), an A30. 4g: the A100's 4g. +me as plain.
      .change_seconds = {{0.16, 0.10}, {0.16, 0.10}, {0.13, 0.11}, {0.13, 0.11}, {0.21, 0.21}},
      .change_source = "1g and 2g from the FAR README's A30 log; 4g carried over from the A100",
      .change_confidence = Confidence::kAssumed,
      // The A100's smart-mig curve read at b/4 of its width (1.75, 3.5, 5.25 and 7 slices, linear
      // between slices: 149.75, 224.6, 247.9, 248.5 W), times 165 W / 250 W, the board limits.
      .power_curves = {{"scaled-a100",
                        {26.4, 98.8, 148.2, 163.6, 164.0},
                        "the A100's smart-mig curve by share of the GPU, scaled to 165 W",
                        Confidence::kAssumed}}};
}

}  // namespace partita::mig
