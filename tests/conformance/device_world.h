// DeviceWorld: a backend together with what happens around its GPUs, so that one suite can be run
// over all of them.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/backend.h"

namespace partita::conformance {

inline constexpr GpuId kFirst{0};
inline constexpr GpuId kSecond{1};

class DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;
  virtual device::Backend& backend() = 0;
  virtual void put_process(const device::InstanceKey& key, int pid, std::int64_t mib) = 0;
  virtual void end_process(const device::InstanceKey& key, int pid) = 0;
  virtual void add_event(const device::Instance& instance, int xid) = 0;
  virtual void put_orphan(GpuId gpu, mig::Placement placement) = 0;
  virtual void pass(Micros span) = 0;
};

// Which backend, with which GPU. Two of them stand in the world.
struct WorldKind {
  std::string backend;  // "simulated", "faulty", "fake_nvml"
  std::string gpu;      // a key of the catalogue
};

// How a test is named after it.
inline void PrintTo(const WorldKind& kind, std::ostream* out) {
  *out << kind.backend << " " << kind.gpu;
}

std::unique_ptr<DeviceWorld> make_world(const WorldKind& kind);
std::vector<WorldKind> all_worlds();

// Commands for the fake NVML (docs/reference/devices.md). CHECKs that it understands them.
void tell_fake_nvml(const std::string& commands);
std::string fake_nvml_path();

}  // namespace partita::conformance
