// GpuModel: the truth about one MIG-capable GPU: profiles, placements, power, change times.
//
// One model is one file in mig/models/, and every figure there names its source. A live GPU is
// asked through NVML instead; these tables are for simulation and planning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace partita::mig {

inline constexpr int kMemorySlicesMax = 8;  // of any part known today
inline constexpr int kComputeSlicesMax = 7;
inline constexpr int kProfilesMax = 16;  // so that a set of profiles fits a 16-bit mask

// Index into GpuModel::profiles.
using ProfileIndex = std::uint8_t;

// Established: read off hardware or documented by the vendor. Assumed: carried over from a sibling
// part; shown with a mark wherever it is printed.
enum class Confidence : std::uint8_t { kEstablished, kAssumed };

// What `nvidia-smi mig -lgip` and `-lgipp` say about one profile.
struct Profile {
  std::string name;       // "3g.20gb", "1g.5gb+me"
  int nvml_id = 0;        // what NVML's create call takes; differs from the enum below
  std::string nvml_enum;  // "3_SLICE", "1_SLICE_REV1"
  int compute_slices = 0;
  int memory_slices = 0;  // also the size of every placement
  double memory_gib = 0;  // usable, not the number in the name
  int sms = 0;            // 0: not established
  int instances_max = 0;
  std::vector<std::uint8_t> starts;  // legal first memory slices, ascending
  bool media = false;                // a +me profile: at most one media profile on a GPU
  bool double_memory = false;        // 1g with the memory of two slices
  Confidence confidence = Confidence::kEstablished;
  std::string note;

  bool plain() const { return !media && !double_memory; }
};

// Board power by busy compute slices: watts[b] for b = 0 .. compute_slices.
struct PowerCurve {
  std::string name;
  std::vector<double> watts;
  std::string source;
  Confidence confidence = Confidence::kEstablished;
};

// Seconds that creating and destroying an instance (with its compute instance) takes.
struct ChangeSeconds {
  double create = 0;
  double destroy = 0;
};

struct GpuModel {
  std::string key;    // "a100-40gb": what users type
  std::string title;  // "NVIDIA A100 40GB"
  int compute_slices = 0;
  int memory_slices = 0;
  int sms_without_mig = 0;
  std::vector<Profile> profiles;  // by compute slices, then memory slices, plain before media
  std::vector<ChangeSeconds> change_seconds;  // by profile
  std::string change_source;
  Confidence change_confidence = Confidence::kEstablished;
  std::vector<PowerCurve> power_curves;  // the first is the default
};

// Every model of the catalogue, in the order `partita gpus` lists them.
const std::vector<const GpuModel*>& catalogue();

// By key, case-insensitively; "a100" and "A100-40GB" style spellings with one meaning are accepted.
Result<const GpuModel*> find_gpu(std::string_view name);

Result<const PowerCurve*> find_power_curve(const GpuModel& model, std::string_view name);

// Accepts "3g.20gb", "mig-3g.20gb", "MIG 3g.20gb", the Kubernetes form "1g.5gb.me" and numeric NVML
// ids. The error lists the model's profiles.
Result<ProfileIndex> parse_profile(const GpuModel& model, std::string_view text);

}  // namespace partita::mig
