// A libnvidia-ml.so.1 without hardware: the functions the nvml backend calls, with the rules of the
// driver: placements, errors, processes in the way, holes in the numbers of MIG devices.
//
// Nothing here knows Partita; any program that loads NVML can be run against it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fake_world.h"

namespace {

using partita::fakes::FakeComputeInstance;
using partita::fakes::FakeGpu;
using partita::fakes::FakeGpuInstance;
using partita::fakes::FakeProfile;
using partita::fakes::FakeWorld;
namespace nvml = partita::device::nvml;
using nvml::ComputeInstance;
using nvml::Device;
using nvml::EventSet;
using nvml::GpuInstance;
using nvml::Return;

constexpr unsigned kProfileArguments = 17;  // of driver 580; beyond them INVALID_ARGUMENT
constexpr unsigned long long kMibBytes = 1ULL << 20U;

FakeWorld& world() {
  return FakeWorld::instance();
}

Return give_text(const std::string& text, char* buffer, unsigned size) {
  if (buffer == nullptr) return nvml::kInvalidArgument;
  if (text.size() + 1 > size) return nvml::kInsufficientSize;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return nvml::kSuccess;
}

// NVML's way with arrays: `count` is how many there is space for, and then how many there are.
template <typename Item>
Return give_list(const std::vector<Item>& items, Item* out, unsigned* count) {
  const auto have = static_cast<unsigned>(items.size());
  const bool enough = out != nullptr && *count >= have;
  if (enough) std::copy(items.begin(), items.end(), out);
  const bool asked_for_length = out == nullptr && *count == 0;
  *count = have;
  return enough || have == 0 || asked_for_length ? nvml::kSuccess : nvml::kInsufficientSize;
}

const FakeProfile* profile_at(const FakeGpu& gpu, unsigned argument) {
  for (const FakeProfile& profile : gpu.part->profiles) {
    if (profile.argument == argument) return &profile;
  }
  return nullptr;
}

// The commands of PARTITA_FAKE_NVML, or of the file it names.
Return start_world() {
  const char* const set = std::getenv("PARTITA_FAKE_NVML");
  std::string commands = set != nullptr ? set : "reset";
  if (std::ifstream file(commands); file) {
    commands.assign(std::istreambuf_iterator<char>(file), {});
  }
  return world().run(commands) ? nvml::kSuccess : nvml::kUnknown;
}

template <typename Info>
void describe(const FakeGpu& gpu, const FakeProfile& profile, Info& info) {
  info.id = profile.id + gpu.id_offset;
  info.is_p2p_supported = 0;
  info.slice_count = profile.compute_slices;
  info.instance_count = profile.instances_max;
  info.multiprocessor_count = profile.multiprocessors;
  info.copy_engine_count = profile.copy_engines;
  info.decoder_count = profile.decoders;
  info.encoder_count = 0;
  info.jpeg_count = profile.jpeg;
  info.ofa_count = profile.ofa;
  info.memory_size_mb = profile.memory_mib;
}

template <typename Info>
Return profile_info(Device device, unsigned argument, Info* info) {
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr || argument >= kProfileArguments) return nvml::kInvalidArgument;
  const FakeProfile* const profile = profile_at(*gpu, argument);
  if (profile == nullptr) return nvml::kNotSupported;
  describe(*gpu, *profile, *info);
  return nvml::kSuccess;
}

bool has_processes(const FakeGpuInstance& instance) {
  return std::ranges::any_of(instance.compute, [](const auto& compute) {
    return compute->alive && !compute->processes.empty();
  });
}

bool refuses(FakeGpuInstance& instance) {
  if (instance.leaked || has_processes(instance)) return true;
  if (instance.lingers == 0) return false;
  --instance.lingers;
  return true;
}

}  // namespace

// Begins every function: planned faults and delays, then the lock.
#define ENTER(symbol)                                                              \
  if (const Return planned = world().enter(#symbol); planned != 0) return planned; \
  const std::scoped_lock lock(world().mutex)

extern "C" {

// 0 when the commands were understood.
int partita_fake_nvml(const char* commands) {
  const std::scoped_lock lock(world().mutex);
  return world().run(commands) ? 0 : 1;
}

Return nvmlInit_v2() {
  ENTER(nvmlInit_v2);
  if (world().started) return nvml::kSuccess;
  world().started = true;
  return world().gpus.empty() ? start_world() : nvml::kSuccess;
}

Return nvmlShutdown() {
  ENTER(nvmlShutdown);
  world().started = false;
  return nvml::kSuccess;
}

Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  ENTER(nvmlSystemGetDriverVersion);
  return give_text("580.159.04", version, length);
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  ENTER(nvmlDeviceGetCount_v2);
  if (!world().started) return nvml::kUninitialized;
  *count = static_cast<unsigned>(world().gpus.size());
  return nvml::kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  ENTER(nvmlDeviceGetHandleByIndex_v2);
  if (!world().started) return nvml::kUninitialized;
  if (index >= world().gpus.size()) return nvml::kInvalidArgument;
  *device = reinterpret_cast<Device>(world().gpus[index].get());
  return nvml::kSuccess;
}

Return nvmlDeviceGetIndex(Device device, unsigned* index) {
  ENTER(nvmlDeviceGetIndex);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  *index = gpu->index;
  return nvml::kSuccess;
}

Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned length) {
  ENTER(nvmlDeviceGetUUID);
  if (const FakeGpu* const gpu = world().gpu_of(device)) return give_text(gpu->uuid, uuid, length);
  const FakeComputeInstance* const slice = world().slice_of(device);
  return slice != nullptr ? give_text(slice->uuid, uuid, length) : nvml::kInvalidArgument;
}

Return nvmlDeviceGetName(Device device, char* name, unsigned length) {
  ENTER(nvmlDeviceGetName);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  return give_text(std::string(gpu->part->name), name, length);
}

Return nvmlDeviceGetPciInfo_v3(Device device, nvml::PciInfo* info) {
  ENTER(nvmlDeviceGetPciInfo_v3);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  *info = {};
  info->device = gpu->index;
  info->pci_device_id = gpu->part->pci_device_id;
  return nvml::kSuccess;
}

Return nvmlDeviceGetMemoryInfo_v2(Device device, nvml::MemoryV2* memory) {
  ENTER(nvmlDeviceGetMemoryInfo_v2);
  if (memory->version != nvml::kMemoryV2) return nvml::kArgumentVersionMismatch;
  unsigned long long total = 0;
  unsigned long long used = 0;
  if (const FakeGpu* const gpu = world().gpu_of(device)) {
    total = gpu->part->memory_bytes;
  } else if (const FakeComputeInstance* const slice = world().slice_of(device)) {
    total = slice->parent->profile->memory_mib * kMibBytes;
    for (const auto& compute : slice->parent->compute) {
      for (const auto& [pid, mib] : compute->processes) used += mib * kMibBytes;
    }
  } else {
    return nvml::kInvalidArgument;
  }
  *memory = {nvml::kMemoryV2, total, 0, total - used, used};
  return nvml::kSuccess;
}

Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  ENTER(nvmlDeviceGetPowerUsage);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kNotSupported;  // a slice has no meter
  *milliwatts = world().power_mw(*gpu);
  return nvml::kSuccess;
}

// As the driver: not of a slice, and of a GPU only while MIG is off.
Return nvmlDeviceGetUtilizationRates(Device device, nvml::Utilization* use) {
  ENTER(nvmlDeviceGetUtilizationRates);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr || gpu->mig) return nvml::kNotSupported;
  *use = {0, 0};
  return nvml::kSuccess;
}

Return nvmlDeviceGetTemperature(Device device, int sensor, unsigned* degrees) {
  ENTER(nvmlDeviceGetTemperature);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kNotSupported;
  if (sensor != nvml::kTemperatureOfGpu) return nvml::kInvalidArgument;
  *degrees = 25 + world().power_mw(*gpu) / 10'000;
  return nvml::kSuccess;
}

Return nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* milliwatts) {
  ENTER(nvmlDeviceGetEnforcedPowerLimit);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kNotSupported;
  *milliwatts = gpu->part->idle_mw + 8 * gpu->part->slice_mw;
  return nvml::kSuccess;
}

Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  ENTER(nvmlDeviceGetTotalEnergyConsumption);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kNotSupported;
  *millijoules = world().energy_mj(*gpu);
  return nvml::kSuccess;
}

Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                               nvml::ProcessInfo* infos) {
  ENTER(nvmlDeviceGetComputeRunningProcesses_v3);
  const FakeComputeInstance* const slice = world().slice_of(device);
  if (slice == nullptr) return nvml::kInvalidArgument;
  std::vector<nvml::ProcessInfo> found;
  for (const auto& [pid, mib] : slice->processes) {
    found.push_back({pid, mib * kMibBytes, slice->parent->id, slice->id});
  }
  return give_list(found, infos, count);
}

Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  ENTER(nvmlDeviceGetMigMode);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  *current = gpu->mig ? 1 : 0;
  *pending = *current;
  return nvml::kSuccess;
}

Return nvmlDeviceSetMigMode(Device device, unsigned mode, Return* activation) {
  ENTER(nvmlDeviceSetMigMode);
  FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  *activation = world().activation;
  for (const auto& instance : gpu->instances) {
    if (instance->alive && (instance->leaked || has_processes(*instance))) {
      *activation = nvml::kInUse;
    }
  }
  if (*activation != nvml::kSuccess) return nvml::kSuccess;
  if (gpu->mig != (mode == 1)) {
    for (const auto& instance : gpu->instances) {
      instance->alive = false;
      for (const auto& compute : instance->compute) compute->alive = false;
    }
  }
  gpu->mig = mode == 1;
  return nvml::kSuccess;
}

Return nvmlDeviceGetGpuInstanceProfileInfo(Device device, unsigned argument,
                                           nvml::GpuInstanceProfile* info) {
  ENTER(nvmlDeviceGetGpuInstanceProfileInfo);
  return profile_info(device, argument, info);
}

Return nvmlDeviceGetGpuInstanceProfileInfoV(Device device, unsigned argument,
                                            nvml::GpuInstanceProfileV2* info) {
  ENTER(nvmlDeviceGetGpuInstanceProfileInfoV);
  if (info->version != nvml::kGpuInstanceProfileV2) return nvml::kInvalidArgument;
  const Return code = profile_info(device, argument, info);
  if (code != nvml::kSuccess) return code;
  const std::string name(profile_at(*world().gpu_of(device), argument)->name);
  return give_text(name, info->name, sizeof(info->name));
}

Return nvmlDeviceGetGpuInstancePossiblePlacements_v2(Device device, unsigned profile_id,
                                                     nvml::GpuInstancePlacement* placements,
                                                     unsigned* count) {
  ENTER(nvmlDeviceGetGpuInstancePossiblePlacements_v2);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  for (const FakeProfile& profile : gpu->part->profiles) {
    if (profile.id + gpu->id_offset != profile_id) continue;
    // As the real one: `count` is not looked at, and an array gets all of them.
    *count = 0;
    for (const unsigned start : profile.starts) {
      if (placements != nullptr) placements[*count] = {start, profile.memory_slices};
      ++*count;
    }
    return nvml::kSuccess;
  }
  return nvml::kInvalidArgument;
}

Return nvmlDeviceCreateGpuInstanceWithPlacement(Device device, unsigned profile_id,
                                                const nvml::GpuInstancePlacement* placement,
                                                GpuInstance* made) {
  ENTER(nvmlDeviceCreateGpuInstanceWithPlacement);
  FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  FakeGpuInstance* instance = nullptr;
  const Return code = world().make(*gpu, profile_id, *placement, &instance);
  *made = reinterpret_cast<GpuInstance>(instance);
  return code;
}

Return nvmlGpuInstanceDestroy(GpuInstance handle) {
  ENTER(nvmlGpuInstanceDestroy);
  FakeGpuInstance* const instance = world().find(handle);
  if (instance == nullptr) return nvml::kInvalidArgument;
  const bool filled =
      std::ranges::any_of(instance->compute, [](const auto& c) { return c->alive; });
  if (filled || refuses(*instance)) return nvml::kInUse;
  instance->alive = false;
  return nvml::kSuccess;
}

Return nvmlDeviceGetGpuInstances(Device device, unsigned profile_id, GpuInstance* handles,
                                 unsigned* count) {
  ENTER(nvmlDeviceGetGpuInstances);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  std::vector<GpuInstance> found;
  for (const auto& instance : gpu->instances) {
    if (instance->alive && instance->profile->id + gpu->id_offset == profile_id) {
      found.push_back(reinterpret_cast<GpuInstance>(instance.get()));
    }
  }
  return give_list(found, handles, count);
}

Return nvmlDeviceGetGpuInstanceById(Device device, unsigned id, GpuInstance* handle) {
  ENTER(nvmlDeviceGetGpuInstanceById);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  for (const auto& instance : gpu->instances) {
    if (!instance->alive || instance->id != id) continue;
    *handle = reinterpret_cast<GpuInstance>(instance.get());
    return nvml::kSuccess;
  }
  return nvml::kNotFound;
}

Return nvmlGpuInstanceGetInfo(GpuInstance handle, nvml::GpuInstanceInfo* info) {
  ENTER(nvmlGpuInstanceGetInfo);
  const FakeGpuInstance* const instance = world().find(handle);
  if (instance == nullptr) return nvml::kInvalidArgument;
  *info = {reinterpret_cast<Device>(instance->gpu),
           instance->id,
           instance->profile->id + instance->gpu->id_offset,
           {instance->start, instance->profile->memory_slices}};
  return nvml::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstanceProfileInfo(GpuInstance handle, unsigned argument,
                                                    unsigned engines,
                                                    nvml::ComputeInstanceProfile* info) {
  ENTER(nvmlGpuInstanceGetComputeInstanceProfileInfo);
  static constexpr unsigned kSlices[] = {1, 2, 3, 4, 7, 8, 6, 1};
  const FakeGpuInstance* const instance = world().find(handle);
  if (instance == nullptr || argument >= std::size(kSlices) || engines != 0) {
    return nvml::kInvalidArgument;
  }
  const FakeProfile& profile = *instance->profile;
  const bool rev1 = argument == 7;
  if (rev1 || kSlices[argument] > profile.compute_slices) return nvml::kNotSupported;
  *info = {};
  info->id = kSlices[argument];
  info->slice_count = kSlices[argument];
  info->instance_count = profile.compute_slices / kSlices[argument];
  info->multiprocessor_count = profile.multiprocessors * kSlices[argument] / profile.compute_slices;
  return nvml::kSuccess;
}

Return nvmlGpuInstanceCreateComputeInstance(GpuInstance handle, unsigned profile_id,
                                            ComputeInstance* made) {
  ENTER(nvmlGpuInstanceCreateComputeInstance);
  FakeGpuInstance* const instance = world().find(handle);
  if (instance == nullptr) return nvml::kInvalidArgument;
  FakeComputeInstance* compute = nullptr;
  const Return code = world().fill(*instance, profile_id, &compute);
  *made = reinterpret_cast<ComputeInstance>(compute);
  return code;
}

Return nvmlComputeInstanceDestroy(ComputeInstance handle) {
  ENTER(nvmlComputeInstanceDestroy);
  FakeComputeInstance* const compute = world().find(handle);
  if (compute == nullptr) return nvml::kInvalidArgument;
  if (compute->parent->leaked || !compute->processes.empty()) return nvml::kInUse;
  compute->alive = false;
  return nvml::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstances(GpuInstance handle, unsigned profile_id,
                                          ComputeInstance* handles, unsigned* count) {
  ENTER(nvmlGpuInstanceGetComputeInstances);
  const FakeGpuInstance* const instance = world().find(handle);
  if (instance == nullptr) return nvml::kInvalidArgument;
  std::vector<ComputeInstance> found;
  for (const auto& compute : instance->compute) {
    if (compute->alive && compute->profile_id == profile_id) {
      found.push_back(reinterpret_cast<ComputeInstance>(compute.get()));
    }
  }
  return give_list(found, handles, count);
}

Return nvmlComputeInstanceGetInfo_v2(ComputeInstance handle, nvml::ComputeInstanceInfo* info) {
  ENTER(nvmlComputeInstanceGetInfo_v2);
  const FakeComputeInstance* const compute = world().find(handle);
  if (compute == nullptr) return nvml::kInvalidArgument;
  const Device parent = reinterpret_cast<Device>(compute->parent->gpu);
  *info = {world().ci_names_parent ? parent : reinterpret_cast<Device>(handle),
           reinterpret_cast<GpuInstance>(compute->parent),
           compute->id,
           compute->profile_id,
           {compute->start, compute->slices}};
  return nvml::kSuccess;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  ENTER(nvmlDeviceGetMaxMigDeviceCount);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr) return nvml::kInvalidArgument;
  *count = gpu->mig ? gpu->part->mig_devices_max : 0;
  return nvml::kSuccess;
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* slice) {
  ENTER(nvmlDeviceGetMigDeviceHandleByIndex);
  const FakeGpu* const gpu = world().gpu_of(device);
  if (gpu == nullptr || index >= gpu->part->mig_devices_max) return nvml::kInvalidArgument;
  for (const auto& instance : gpu->instances) {
    for (const auto& compute : instance->compute) {
      if (!compute->alive || compute->mig_index != index) continue;
      *slice = reinterpret_cast<Device>(compute.get());
      return nvml::kSuccess;
    }
  }
  return nvml::kNotFound;
}

Return nvmlDeviceGetGpuInstanceId(Device device, unsigned* id) {
  ENTER(nvmlDeviceGetGpuInstanceId);
  const FakeComputeInstance* const slice = world().slice_of(device);
  if (slice == nullptr) return nvml::kInvalidArgument;
  *id = slice->parent->id;
  return nvml::kSuccess;
}

Return nvmlDeviceGetComputeInstanceId(Device device, unsigned* id) {
  ENTER(nvmlDeviceGetComputeInstanceId);
  const FakeComputeInstance* const slice = world().slice_of(device);
  if (slice == nullptr) return nvml::kInvalidArgument;
  *id = slice->id;
  return nvml::kSuccess;
}

Return nvmlEventSetCreate(EventSet* set) {
  ENTER(nvmlEventSetCreate);
  *set = reinterpret_cast<EventSet>(&world());
  return nvml::kSuccess;
}

Return nvmlEventSetFree(EventSet) {
  ENTER(nvmlEventSetFree);
  return nvml::kSuccess;
}

Return nvmlDeviceRegisterEvents(Device device, unsigned long long, EventSet) {
  ENTER(nvmlDeviceRegisterEvents);
  return world().gpu_of(device) != nullptr ? nvml::kSuccess : nvml::kInvalidArgument;
}

Return nvmlEventSetWait_v2(EventSet, nvml::EventData* data, unsigned) {
  ENTER(nvmlEventSetWait_v2);
  if (world().events.empty()) return nvml::kTimeout;
  *data = world().events.front();
  world().events.pop_front();
  return nvml::kSuccess;
}

}  // extern "C"
