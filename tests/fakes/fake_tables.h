// The GPUs of the fake NVML: what their drivers say about MIG, typed from NVIDIA's user guide and
// from a real H200. Apart from the catalogue of src/mig on purpose: two tables that agree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace partita::fakes {

struct FakeProfile {
  unsigned argument;  // of nvmlDeviceGetGpuInstanceProfileInfo
  unsigned id;        // for the calls that create
  std::string_view name;
  unsigned compute_slices;
  unsigned memory_slices;  // the size of each placement
  unsigned long long memory_mib;
  unsigned multiprocessors;
  unsigned copy_engines;
  unsigned decoders;
  unsigned jpeg;
  unsigned ofa;
  unsigned instances_max;
  std::vector<unsigned> starts;
  bool media = false;
};

struct FakePart {
  std::string_view key;
  std::string_view name;
  unsigned pci_device_id;
  unsigned long long memory_bytes;
  unsigned memory_slices;
  unsigned mig_devices_max;
  unsigned idle_mw;
  unsigned slice_mw;  // a busy compute slice adds this
  std::vector<FakeProfile> profiles;
};

// Null when there is none.
const FakePart* find_part(std::string_view key);
std::span<const FakePart> all_parts();

}  // namespace partita::fakes
