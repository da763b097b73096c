// FakeWorld: the GPUs, slices, processes and planned faults behind the fake NVML.
//
// It moves by commands, one a line (or separated by ';'), from the variable PARTITA_FAKE_NVML when
// NVML starts and from partita_fake_nvml() at any time. docs/reference/devices.md lists them.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/nvml/nvml_api.h"
#include "fake_tables.h"

namespace partita::fakes {

namespace nvml = device::nvml;

struct FakeGpuInstance;

// A compute instance, and the MIG device that comes with it.
struct FakeComputeInstance {
  FakeGpuInstance* parent = nullptr;
  unsigned id = 0;
  unsigned profile_id = 0;
  unsigned slices = 0;
  unsigned start = 0;
  unsigned mig_index = 0;
  std::string uuid;
  bool alive = true;
  std::map<unsigned, unsigned long long> processes;  // pid to MiB
};

struct FakeGpu;

struct FakeGpuInstance {
  FakeGpu* gpu = nullptr;
  unsigned id = 0;
  const FakeProfile* profile = nullptr;
  unsigned start = 0;
  bool alive = true;
  bool leaked = false;  // someone unseen holds it
  int lingers = 0;      // so many destroys are still refused after the last process ended
  std::vector<std::unique_ptr<FakeComputeInstance>> compute;
};

struct FakeGpu {
  const FakePart* part = nullptr;
  unsigned index = 0;
  std::string uuid;
  bool mig = true;
  unsigned id_offset = 0;  // added to every profile id: another driver's numbers
  std::vector<std::unique_ptr<FakeGpuInstance>> instances;
};

// Answers planned in advance for one function.
struct FakePlan {
  std::string symbol;  // "nvmlGpuInstanceDestroy", or "*"
  std::optional<nvml::Return> code;
  int delay_ms = 0;
  int after = 0;   // calls to let pass
  int times = -1;  // calls it is for; -1: all
};

class FakeWorld {
 public:
  // The one world of this library.
  static FakeWorld& instance();

  // False when a command is not understood.
  bool run(std::string_view commands);

  // What every function does first: waits and fails as planned. 0 to go on.
  nvml::Return enter(const char* symbol);

  std::mutex mutex;  // held by every function while it looks or changes
  bool started = false;
  bool ci_names_parent = false;  // compute instances give the GPU as their device, not the slice
  nvml::Return activation = nvml::kSuccess;  // what a change of MIG mode says
  // Handles point here and are never reused, so a dead one is recognised.
  std::vector<std::unique_ptr<FakeGpu>> gpus;
  std::deque<nvml::EventData> events;

  FakeGpu* gpu_of(nvml::Device device);
  FakeComputeInstance* slice_of(nvml::Device device);
  FakeGpuInstance* find(nvml::GpuInstance handle);
  FakeComputeInstance* find(nvml::ComputeInstance handle);

  // The rules of the driver.
  nvml::Return make(FakeGpu& gpu, unsigned profile_id, nvml::GpuInstancePlacement place,
                    FakeGpuInstance** made);
  nvml::Return fill(FakeGpuInstance& instance, unsigned profile_id, FakeComputeInstance** made);
  unsigned long long energy_mj(const FakeGpu& gpu);
  unsigned power_mw(const FakeGpu& gpu) const;

 private:
  bool command(const std::vector<std::string>& words);
  bool reset(const std::vector<std::string>& words);
  bool plan(const std::vector<std::string>& words);
  bool change_slice(const std::vector<std::string>& words);
  bool change_gpu(const std::vector<std::string>& words);
  FakeGpuInstance* living(const std::string& gpu, const std::string& gi);
  unsigned free_mig_index(const FakeGpu& gpu) const;
  std::string uuid(std::string_view prefix);

  std::vector<FakePlan> plans_;
  unsigned long long uuids_ = 0;
};

}  // namespace partita::fakes
