// Backend: the interface to MIG GPUs: what there is, slices made and destroyed, memory, power,
// health.
//
// One suite (tests/conformance) holds every backend to what stands here; docs/reference/devices.md
// describes the backends. Calls may come from several threads; calls about one GPU are answered one
// after the other. A call may take as long as the hardware takes (tenths of a second to make a
// slice), so a daemon makes them outside its main loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "mig/layout.h"

namespace partita::device {

// Why a call failed, as far as the caller can act on it.
enum class Fault : std::uint8_t {
  kInUse,                  // processes (named) or someone unseen (no pids) hold the slice
  kInsufficientResources,  // the placement is taken, or the driver says so
  kInvalidArgument,        // no such profile, or no legal placement of it
  kNoPermission,           // the sentence names the capability file
  kGpuLost,                // fell off the bus; nothing works until someone resets it
  kNotSupported,           // no MIG on this GPU, or MIG mode is off
  kResetRequired,          // works again after a reset
  kDriverGone,             // not loaded; other GPUs are gone as well, and it may come back
  kVersionMismatch,        // library and driver differ: an upgrade is under way
  kTimeout,                // no answer by the deadline; the GPU is suspect until the call returns
  kNotFound,               // no such GPU or slice: it was destroyed, replaced or never there
  kUnknown,
};
// "in-use", "gpu-lost": for logs and JSON.
std::string_view name_of(Fault fault);
std::optional<Fault> fault_of(std::string_view name);

struct DeviceError {
  Fault fault = Fault::kUnknown;
  std::string message;    // one sentence
  std::vector<int> pids;  // kInUse: who holds it; empty when nobody is visible
};

// The value of a call, or why there is none.
template <typename T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : value_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Answer(DeviceError error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T& operator*() { return checked(); }
  const T& operator*() const { return const_cast<Answer*>(this)->checked(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Answer*>(this)->checked(); }

  // REQUIRES: !ok().
  const DeviceError& error() const {
    CHECK(!value_.has_value());
    return error_;
  }
  Fault fault() const { return error().fault; }

 private:
  T& checked() {
    CHECK(value_.has_value());
    return *value_;
  }

  std::optional<T> value_;
  DeviceError error_;
};

struct Nothing {
  bool operator==(const Nothing&) const = default;
};
using Done = Answer<Nothing>;

enum class MigMode : std::uint8_t { kUnsupported, kDisabled, kEnabled };

struct GpuInfo {
  GpuId id;               // the driver's index; may change at a reboot, the UUID does not
  std::string uuid;       // "GPU-..."
  std::string name;       // the driver's: "NVIDIA H200"
  std::uint32_t pci = 0;  // device and vendor as mig-parted writes them: 0x233510DE
  std::int64_t memory_mib = 0;
  MigMode mode = MigMode::kUnsupported;
  // Profiles, their ids and placements as this very GPU's driver gives them; power curve and change
  // times of the catalogue where it knows the part. Two GPUs of one name may differ. Null when the
  // GPU has no MIG.
  std::shared_ptr<const mig::GpuModel> model;
  // No slice outlives a boot: another value than before means that all of them are gone.
  std::string boot_id;
  bool monitored = true;  // poll_events() tells of this GPU
  // Set: the GPU does not answer, and the rest is what was last known of it.
  std::optional<DeviceError> trouble;
};

// Which slice. GPU instance ids are used again after a destroy, so an id counts only together with
// the MIG UUID; the UUID is empty for a GPU instance that has no compute instance (an orphan).
struct InstanceKey {
  GpuId gpu;
  std::uint32_t gi = 0;
  std::string uuid;

  bool operator==(const InstanceKey&) const = default;
};

struct Instance {
  InstanceKey key;
  mig::Placement placement;   // profile: an index into GpuInfo::model->profiles
  int compute_instances = 1;  // 0: an orphan, half made or half destroyed; more: not made by us
  std::optional<std::uint32_t> ci;  // of the first compute instance
  std::uint64_t generation = 0;     // another one each time something new appears at this gi

  bool orphan() const { return compute_instances == 0; }
  bool operator==(const Instance&) const = default;
};

struct ProcessUse {
  int pid = 0;
  std::int64_t used_mib = 0;

  bool operator==(const ProcessUse&) const = default;
};

struct MemoryUse {
  std::int64_t used_mib = 0;
  std::int64_t total_mib = 0;

  bool operator==(const MemoryUse&) const = default;
};

// How a board is doing, for people to look at: no decision is made of it. What a board does not say
// is absent; with MIG on drivers do not say how busy a whole GPU is.
struct BoardUse {
  std::optional<double> utilisation;  // 0 to 1
  std::optional<double> temperature_c;
  std::optional<double> power_limit_w;

  bool operator==(const BoardUse&) const = default;
};

// A critical event of the driver (an Xid).
struct HealthEvent {
  GpuId gpu;
  int xid = 0;
  std::optional<std::uint32_t> gi;  // nothing: it concerns the whole GPU
  // Of the slice that was at `gi` when the event arose; the one there now may be another (ignore
  // the event then). 0: none was known.
  std::uint64_t generation = 0;

  bool operator==(const HealthEvent&) const = default;
};

// What an Xid asks for.
enum class XidClass : std::uint8_t {
  kApplication,   // the job's own fault; the GPU stays healthy
  kContained,     // ends what runs on one slice; the slice is rebuilt
  kUncontained,   // ends what runs on the GPU; it is drained
  kGpuLost,       // fell off the bus
  kResetPending,  // finish what runs, then drain and reset
  kOther,         // logged
};
XidClass class_of_xid(int xid);

struct EnvironmentVariable {
  std::string name;
  std::string value;

  bool operator==(const EnvironmentVariable&) const = default;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // "simulated:2xa100-40gb", "nvml, driver 580.159.04".
  virtual std::string title() = 0;

  // Asked anew each time, in order of id. kDriverGone, kVersionMismatch and kNoPermission mean that
  // there is no GPU to be had now; asking again later is the way to find out that there is.
  virtual Answer<std::vector<GpuInfo>> gpus() = 0;

  // Everything that occupies memory slices, found by GPU instances and so with orphans, in order of
  // start. Empty while MIG mode is off.
  virtual Answer<std::vector<Instance>> instances(GpuId gpu) = 0;

  // A GPU instance at this very place and one compute instance that fills it. When the second
  // cannot be made the first is taken back; should that fail too, the sentence says so and
  // instances() shows the orphan.
  virtual Answer<Instance> create(GpuId gpu, mig::Placement placement) = 0;

  // All compute instances, then the GPU instance; orphans too. kInUse leaves everything as it was,
  // except that the compute instance may be gone (then an orphan is left). kNotFound when `key` is
  // no longer what is there.
  virtual Done destroy(const InstanceKey& key) = 0;

  virtual Answer<MemoryUse> memory(const InstanceKey& key) = 0;
  // In order of pid.
  virtual Answer<std::vector<ProcessUse>> processes(const InstanceKey& key) = 0;

  // Of the whole board, in milliwatts; no GPU measures a slice.
  virtual Answer<std::int64_t> power_mw(GpuId gpu) = 0;
  // Of the whole board since the driver was loaded, in millijoules.
  virtual Answer<std::int64_t> energy_mj(GpuId gpu) = 0;

  virtual Answer<BoardUse> board(GpuId gpu) = 0;

  // Events since the last call; does not wait. An error means "unmonitored", not "healthy".
  virtual Answer<std::vector<HealthEvent>> poll_events() = 0;

  // kResetRequired: accepted, and active after a reset. kInUse while anything uses the GPU. Slices
  // do not survive it.
  virtual Done set_mig_mode(GpuId gpu, bool enabled) = 0;

  // What a process on the slice must find in its environment besides CUDA_VISIBLE_DEVICES.
  virtual std::vector<EnvironmentVariable> job_environment(const InstanceKey& key) = 0;
};

// The layout that `instances` make. REQUIRES: they are of one GPU with this model.
mig::Layout layout_of(const std::vector<Instance>& instances);

}  // namespace partita::device
