// NvmlSession: what a backend asks of GPUs, in terms of NVML calls. Any of them may hang, so it is
// driven by threads that can be left behind (device/nvml.h).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/backend.h"
#include "device/nvml/nvml_library.h"

namespace partita::device {

// Safe for several threads; no lock is held during a call about a slice.
// What a call that fills a buffer says; empty when it fails.
std::string text_of(nvml::Return (*function)(nvml::Device, char*, unsigned), nvml::Device device);

class NvmlSession {
 public:
  // After a process ends, its slice may stay in use for some tenths of a second: a destroy that
  // nobody visible stands against is tried again after each of these pauses.
  using Pauses = std::vector<std::chrono::milliseconds>;

  NvmlSession(std::shared_ptr<const NvmlLibrary> library, Pauses pauses)
      : library_(std::move(library)), pauses_(std::move(pauses)) {}

  // First. Without it every call answers kDriverGone.
  Done begin();
  void end();

  Answer<std::string> driver_version();
  Answer<unsigned> gpu_count();
  Answer<GpuInfo> gpu(GpuId id);
  Answer<std::vector<Instance>> instances(GpuId id);
  Answer<Instance> create(GpuId id, mig::Placement placement);
  Done destroy(const InstanceKey& key);
  Answer<MemoryUse> memory(const InstanceKey& key);
  Answer<std::vector<ProcessUse>> processes(const InstanceKey& key);
  Answer<std::int64_t> power_mw(GpuId id);
  Answer<std::int64_t> energy_mj(GpuId id);
  Answer<BoardUse> board(GpuId id);
  Answer<std::vector<HealthEvent>> poll_events();
  Done set_mig_mode(GpuId id, bool enabled);

 private:
  using ModelPointer = std::shared_ptr<const mig::GpuModel>;

  // A GPU as a call needs it.
  struct Opened {
    GpuId id;
    nvml::Device device = nullptr;
    std::string uuid;
    MigMode mode = MigMode::kUnsupported;
    ModelPointer model;
  };
  // A GPU instance as it is now.
  struct Found {
    nvml::GpuInstance handle = nullptr;
    nvml::GpuInstanceInfo info = {};
    mig::ProfileIndex profile = 0;
    std::vector<std::pair<nvml::ComputeInstance, nvml::ComputeInstanceInfo>> compute;
    nvml::Device mig_device = nullptr;  // of the first compute instance
    std::string uuid;
  };
  // What was last seen at a GPU instance id.
  struct Seen {
    std::string uuid;
    mig::Placement placement;
    std::uint64_t generation = 0;
  };

  Answer<Opened> open(GpuId id);
  Answer<Opened> open_enabled(GpuId id);
  Answer<ModelPointer> model_of(const Opened& gpu, const std::string& name,
                                std::int64_t memory_mib);
  Answer<ModelPointer> read_model(nvml::Device device, const std::string& name,
                                  std::int64_t memory_mib);
  Answer<std::vector<Found>> find_all(const Opened& gpu);
  Answer<Found> find(const Opened& gpu, const InstanceKey& key);
  Answer<Found> look_at(const Opened& gpu, nvml::GpuInstance handle, mig::ProfileIndex profile);
  Done add_compute_instances(Found& found);
  Done find_mig_device(const Opened& gpu, Found& found);
  Answer<nvml::ComputeInstance> fill(const Opened& gpu, nvml::GpuInstance handle, int slices);
  Done destroy_compute(const Opened& gpu, const Found& found);
  Done destroy_gpu_instance(const Opened& gpu, const Found& found);
  std::vector<ProcessUse> holders(const Found& found);
  Instance shown(const Opened& gpu, const Found& found);
  void forget(const Opened& gpu, unsigned gi);
  std::uint64_t generation_at(const std::string& gpu_uuid, unsigned gi);
  Done register_events();
  Done drain_events();
  void note_event(const nvml::EventData& data);

  const std::shared_ptr<const NvmlLibrary> library_;
  const Pauses pauses_;

  std::mutex mutex_;                            // of what follows; never held during a call
  std::map<std::string, ModelPointer> models_;  // by GPU UUID
  std::map<std::pair<std::string, unsigned>, Seen> seen_;
  std::uint64_t generations_ = 0;
  std::set<std::uint32_t> monitored_;
  std::vector<HealthEvent> pending_;

  std::mutex events_mutex_;  // one thread waits for events at a time
  nvml::EventSet event_set_ = nullptr;
};

}  // namespace partita::device
