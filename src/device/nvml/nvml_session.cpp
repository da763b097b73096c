#include "device/nvml/nvml_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "device/layouts/profile_table.h"

namespace partita::device {
namespace {

using nvml::Return;

constexpr unsigned kMibShift = 20;

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string gpu_said(GpuId id, std::string_view doing) {
  return fmt::format("GPU {}: {}", id.value, doing);
}

DeviceError replaced(const InstanceKey& key) {
  return {Fault::kNotFound,
          fmt::format("GPU {} has no slice {} at GPU instance {} any more", key.gpu.value,
                      key.uuid.empty() ? "without a compute instance" : key.uuid, key.gi),
          {}};
}

// What several calls of NVML do: fill an array whose length is found by asking.
template <typename Item, typename Call>
Return fill_list(std::vector<Item>& items, const Call& call) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto count = static_cast<unsigned>(items.size());
    const Return code = call(items.data(), &count);
    if (code == nvml::kSuccess) items.resize(std::min<std::size_t>(count, items.size()));
    if (code != nvml::kInsufficientSize) return code;
    items.resize(std::max<std::size_t>(count, items.size() * 2) + 1);  // it may have grown since
  }
  return nvml::kInsufficientSize;
}

// This call writes as many as there are, however many it is told there is space for (seen on an
// H200, driver 580): the number is asked for first.
Return read_placements(const NvmlLibrary& library, nvml::Device device, DriverProfile& profile) {
  constexpr unsigned kPlacementsMax = 1024;
  unsigned count = 0;
  const Return counted = library->gi_placements(device, profile.info.id, nullptr, &count);
  if (counted != nvml::kSuccess) return counted;
  if (count > kPlacementsMax) return nvml::kInsufficientSize;
  profile.placements.resize(count);
  const Return code =
      library->gi_placements(device, profile.info.id, profile.placements.data(), &count);
  profile.placements.resize(std::min<std::size_t>(count, profile.placements.size()));
  return code;
}

Answer<unsigned> whole_compute_profile(const NvmlLibrary& library, nvml::GpuInstance handle,
                                       int slices) {
  for (unsigned argument = 0; argument < nvml::kComputeInstanceProfilesMax; ++argument) {
    nvml::ComputeInstanceProfile profile = {};
    const Return code = library->ci_profile(handle, argument, nvml::kSharedEngines, &profile);
    if (code == nvml::kNotSupported || code == nvml::kInvalidArgument) continue;
    if (code != nvml::kSuccess) return nvml_error(code, "reading compute instance profiles");
    if (profile.slice_count == static_cast<unsigned>(slices)) return profile.id;
  }
  return DeviceError{Fault::kNotSupported, "no compute instance profile fills the slice", {}};
}

}  // namespace

std::string text_of(nvml::Return (*function)(nvml::Device, char*, unsigned), nvml::Device device) {
  std::array<char, nvml::kUuidBytes> buffer = {};
  if (function(device, buffer.data(), buffer.size()) != nvml::kSuccess) return {};
  buffer.back() = '\0';
  return buffer.data();
}

Done NvmlSession::begin() {
  const Return code = (*library_)->init();
  if (code != nvml::kSuccess) return nvml_error(code, "starting NVML");
  return Nothing{};
}

void NvmlSession::end() {
  (*library_)->shutdown();
}

Answer<std::string> NvmlSession::driver_version() {
  std::array<char, nvml::kVersionBytes> buffer = {};
  const Return code = (*library_)->driver_version(buffer.data(), buffer.size());
  if (code != nvml::kSuccess) return nvml_error(code, "asking for the driver's version");
  buffer.back() = '\0';
  return std::string(buffer.data());
}

Answer<unsigned> NvmlSession::gpu_count() {
  unsigned count = 0;
  const Return code = (*library_)->device_count(&count);
  if (code != nvml::kSuccess) return nvml_error(code, "counting GPUs");
  return count;
}

Answer<NvmlSession::Opened> NvmlSession::open(GpuId id) {
  Opened gpu{.id = id, .device = nullptr, .uuid = {}, .mode = {}, .model = nullptr};
  const Return code = (*library_)->device_by_index(id.value, &gpu.device);
  if (code == nvml::kInvalidArgument || code == nvml::kNotFound) {
    return DeviceError{Fault::kNotFound, fmt::format("there is no GPU {}", id.value), {}};
  }
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(id, "opening it"));
  std::array<char, nvml::kUuidBytes> uuid = {};
  const Return uuid_code = (*library_)->uuid(gpu.device, uuid.data(), uuid.size() - 1);
  if (uuid_code != nvml::kSuccess) return nvml_error(uuid_code, gpu_said(id, "reading its UUID"));
  gpu.uuid = uuid.data();
  unsigned current = 0;
  unsigned pending = 0;
  const Return mode_code = (*library_)->mig_mode(gpu.device, &current, &pending);
  if (mode_code == nvml::kNotSupported) return gpu;
  if (mode_code != nvml::kSuccess) return nvml_error(mode_code, gpu_said(id, "asking for MIG"));
  gpu.mode = current == 1 ? MigMode::kEnabled : MigMode::kDisabled;
  const std::scoped_lock lock(mutex_);
  const auto known = models_.find(gpu.uuid);
  if (known != models_.end()) gpu.model = known->second;
  return gpu;
}

// With its model, and only when there can be slices on it.
Answer<NvmlSession::Opened> NvmlSession::open_enabled(GpuId id) {
  Answer<Opened> gpu = open(id);
  if (!gpu) return gpu;
  if (gpu->mode != MigMode::kEnabled) {
    return DeviceError{
        Fault::kNotSupported,
        gpu_said(id, gpu->mode == MigMode::kDisabled ? "MIG mode is off" : "it has no MIG"),
        {}};
  }
  if (gpu->model != nullptr) return gpu;
  const Answer<GpuInfo> info = this->gpu(id);
  if (!info) return info.error();
  gpu->model = info->model;
  return gpu;
}

Answer<NvmlSession::ModelPointer> NvmlSession::read_model(nvml::Device device,
                                                          const std::string& name,
                                                          std::int64_t memory_mib) {
  std::vector<DriverProfile> table;
  for (unsigned argument = 0; argument < nvml::kGpuInstanceProfilesMax; ++argument) {
    DriverProfile profile;
    profile.argument = argument;
    profile.info.version = nvml::kGpuInstanceProfileV2;
    const Return code = (*library_)->gi_profile_v(device, argument, &profile.info);
    if (code == nvml::kNotSupported) continue;
    if (code == nvml::kInvalidArgument) break;
    if (code != nvml::kSuccess) return nvml_error(code, name + ": reading its profiles");
    const Return placements = read_placements(*library_, device, profile);
    if (placements != nvml::kSuccess) {
      return nvml_error(placements, name + ": reading the placements of a profile");
    }
    table.push_back(std::move(profile));
  }
  Result<mig::GpuModel> model = model_from_driver(name, memory_mib, table);
  if (!model) return DeviceError{Fault::kNotSupported, model.error().message, {}};
  return ModelPointer(std::make_shared<mig::GpuModel>(std::move(*model)));
}

// A part's table does not change while its driver is loaded.
Answer<NvmlSession::ModelPointer> NvmlSession::model_of(const Opened& gpu, const std::string& name,
                                                        std::int64_t memory_mib) {
  if (gpu.model != nullptr || gpu.mode == MigMode::kUnsupported) return gpu.model;
  Answer<ModelPointer> model = read_model(gpu.device, name, memory_mib);
  if (!model) return model;
  const std::scoped_lock lock(mutex_);
  models_[gpu.uuid] = *model;
  return model;
}

Answer<GpuInfo> NvmlSession::gpu(GpuId id) {
  const Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  GpuInfo info{.id = id,
               .uuid = gpu->uuid,
               .name = text_of((*library_)->name, gpu->device),
               .pci = 0,
               .memory_mib = 0,
               .mode = gpu->mode,
               .model = nullptr,
               .boot_id = boot_id(),
               .monitored = false,
               .trouble = {}};
  nvml::PciInfo pci = {};
  if ((*library_)->pci_info(gpu->device, &pci) == nvml::kSuccess) info.pci = pci.pci_device_id;
  nvml::MemoryV2 memory = {};
  memory.version = nvml::kMemoryV2;
  if ((*library_)->memory_info(gpu->device, &memory) == nvml::kSuccess) {
    info.memory_mib = static_cast<std::int64_t>(memory.total >> kMibShift);
  }
  Answer<ModelPointer> model = model_of(*gpu, info.name, info.memory_mib);
  if (!model) return model.error();
  info.model = *model;
  const std::scoped_lock lock(mutex_);
  info.monitored = monitored_.contains(id.value);
  return info;
}

Done NvmlSession::add_compute_instances(Found& found) {
  for (unsigned argument = 0; argument < nvml::kComputeInstanceProfilesMax; ++argument) {
    nvml::ComputeInstanceProfile profile = {};
    const Return known =
        (*library_)->ci_profile(found.handle, argument, nvml::kSharedEngines, &profile);
    if (known == nvml::kNotSupported || known == nvml::kInvalidArgument) continue;
    if (known != nvml::kSuccess) return nvml_error(known, "reading compute instance profiles");
    std::vector<nvml::ComputeInstance> handles(std::max(profile.instance_count, 8U));
    const Return listed = fill_list(handles, [&](nvml::ComputeInstance* items, unsigned* count) {
      return (*library_)->ci_list(found.handle, profile.id, items, count);
    });
    if (listed == nvml::kNotSupported) continue;
    if (listed != nvml::kSuccess) return nvml_error(listed, "listing compute instances");
    for (nvml::ComputeInstance handle : handles) {
      nvml::ComputeInstanceInfo info = {};
      const Return read = (*library_)->ci_info(handle, &info);
      if (read != nvml::kSuccess) return nvml_error(read, "reading a compute instance");
      found.compute.emplace_back(handle, info);
    }
  }
  std::ranges::sort(found.compute, {}, [](const auto& pair) { return pair.second.id; });
  return Nothing{};
}

// The compute instance knows its MIG device on the drivers we saw; where it does not, all MIG
// devices of the GPU are gone through. Their numbers have holes where slices were destroyed.
Done NvmlSession::find_mig_device(const Opened& gpu, Found& found) {
  if (found.compute.empty()) return Nothing{};
  const nvml::ComputeInstanceInfo& info = found.compute.front().second;
  if (info.device != nullptr) found.uuid = text_of((*library_)->uuid, info.device);
  if (found.uuid.starts_with("MIG-")) {
    found.mig_device = info.device;
    return Nothing{};
  }
  found.uuid.clear();
  unsigned count = 0;
  const Return counted = (*library_)->mig_device_count(gpu.device, &count);
  if (counted != nvml::kSuccess) return nvml_error(counted, gpu_said(gpu.id, "counting slices"));
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    const Return code = (*library_)->mig_device_by_index(gpu.device, i, &device);
    if (code == nvml::kNotFound) continue;
    if (code != nvml::kSuccess) return nvml_error(code, gpu_said(gpu.id, "opening a slice"));
    unsigned gi = 0;
    unsigned ci = 0;
    if ((*library_)->mig_device_gi(device, &gi) != nvml::kSuccess || gi != found.info.id ||
        (*library_)->mig_device_ci(device, &ci) != nvml::kSuccess || ci != info.id) {
      continue;
    }
    found.mig_device = device;
    found.uuid = text_of((*library_)->uuid, device);
    return Nothing{};
  }
  return DeviceError{
      Fault::kUnknown,
      gpu_said(gpu.id, fmt::format("GPU instance {} has a compute instance but no MIG device",
                                   found.info.id)),
      {}};
}

Answer<NvmlSession::Found> NvmlSession::look_at(const Opened& gpu, nvml::GpuInstance handle,
                                                mig::ProfileIndex profile) {
  Found found;
  found.handle = handle;
  found.profile = profile;
  const Return code = (*library_)->gi_info(handle, &found.info);
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(gpu.id, "reading a GPU instance"));
  if (found.info.placement.start >= static_cast<unsigned>(gpu.model->memory_slices)) {
    return DeviceError{
        Fault::kUnknown, gpu_said(gpu.id, "a GPU instance stands beyond its memory slices"), {}};
  }
  const Done compute = add_compute_instances(found);
  if (!compute) return compute.error();
  const Done mig_device = find_mig_device(gpu, found);
  if (!mig_device) return mig_device.error();
  return found;
}

Answer<std::vector<NvmlSession::Found>> NvmlSession::find_all(const Opened& gpu) {
  std::vector<Found> all;
  for (std::size_t i = 0; i < gpu.model->profiles.size(); ++i) {
    const mig::Profile& profile = gpu.model->profiles[i];
    std::vector<nvml::GpuInstance> handles(
        static_cast<std::size_t>(std::max(profile.instances_max, mig::kMemorySlicesMax)));
    const Return code = fill_list(handles, [&](nvml::GpuInstance* items, unsigned* count) {
      return (*library_)->gi_list(gpu.device, static_cast<unsigned>(profile.nvml_id), items, count);
    });
    if (code != nvml::kSuccess) return nvml_error(code, gpu_said(gpu.id, "listing its slices"));
    for (nvml::GpuInstance handle : handles) {
      Answer<Found> found = look_at(gpu, handle, static_cast<mig::ProfileIndex>(i));
      if (!found) return found.error();
      all.push_back(std::move(*found));
    }
  }
  std::ranges::sort(all, {}, [](const Found& found) { return found.info.placement.start; });
  return all;
}

Answer<NvmlSession::Found> NvmlSession::find(const Opened& gpu, const InstanceKey& key) {
  nvml::GpuInstance handle = nullptr;
  const Return code = (*library_)->gi_by_id(gpu.device, key.gi, &handle);
  if (code == nvml::kNotFound || code == nvml::kInvalidArgument) return replaced(key);
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(gpu.id, "opening a slice"));
  nvml::GpuInstanceInfo info = {};
  const Return read = (*library_)->gi_info(handle, &info);
  if (read != nvml::kSuccess) return nvml_error(read, gpu_said(gpu.id, "reading a slice"));
  const auto& profiles = gpu.model->profiles;
  const auto profile =
      std::ranges::find(profiles, static_cast<int>(info.profile_id), &mig::Profile::nvml_id);
  if (profile == profiles.end()) return replaced(key);
  Answer<Found> found =
      look_at(gpu, handle, static_cast<mig::ProfileIndex>(profile - profiles.begin()));
  if (found && found->uuid != key.uuid) return replaced(key);
  return found;
}

Instance NvmlSession::shown(const Opened& gpu, const Found& found) {
  Instance instance{
      .key = {gpu.id, found.info.id, found.uuid},
      .placement = {found.profile, static_cast<std::uint8_t>(found.info.placement.start)},
      .compute_instances = static_cast<int>(found.compute.size()),
      .ci = {},
      .generation = 0};
  if (!found.compute.empty()) instance.ci = found.compute.front().second.id;
  const std::scoped_lock lock(mutex_);
  Seen& seen = seen_[{gpu.uuid, found.info.id}];
  if (seen.generation == 0 || seen.uuid != found.uuid || seen.placement != instance.placement) {
    seen = {found.uuid, instance.placement, ++generations_};
  }
  instance.generation = seen.generation;
  return instance;
}

void NvmlSession::forget(const Opened& gpu, unsigned gi) {
  const std::scoped_lock lock(mutex_);
  seen_.erase({gpu.uuid, gi});
}

Answer<std::vector<Instance>> NvmlSession::instances(GpuId id) {
  Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  if (gpu->mode != MigMode::kEnabled) return std::vector<Instance>();
  gpu = open_enabled(id);
  if (!gpu) return gpu.error();
  const Answer<std::vector<Found>> found = find_all(*gpu);
  if (!found) return found.error();
  std::vector<Instance> all;
  for (const Found& one : *found) all.push_back(shown(*gpu, one));
  return all;
}

// The one compute instance that has all of a new GPU instance.
Answer<nvml::ComputeInstance> NvmlSession::fill(const Opened& gpu, nvml::GpuInstance handle,
                                                int slices) {
  const Answer<unsigned> profile = whole_compute_profile(*library_, handle, slices);
  if (!profile) return profile.error();
  nvml::ComputeInstance compute = nullptr;
  const Return code = (*library_)->ci_create(handle, *profile, &compute);
  if (code != nvml::kSuccess) {
    return nvml_error(code, gpu_said(gpu.id, "creating the compute instance"));
  }
  return compute;
}

Answer<Instance> NvmlSession::create(GpuId id, mig::Placement placement) {
  const Answer<Opened> gpu = open_enabled(id);
  if (!gpu) return gpu.error();
  const auto& profiles = gpu->model->profiles;
  if (placement.profile >= profiles.size() ||
      std::ranges::count(profiles[placement.profile].starts, placement.start) == 0) {
    return DeviceError{Fault::kInvalidArgument, gpu_said(id, "it has no such placement"), {}};
  }
  const mig::Profile& profile = profiles[placement.profile];
  const nvml::GpuInstancePlacement place{placement.start,
                                         static_cast<unsigned>(profile.memory_slices)};
  nvml::GpuInstance handle = nullptr;
  const Return code =
      (*library_)->gi_create(gpu->device, static_cast<unsigned>(profile.nvml_id), &place, &handle);
  const std::string doing =
      gpu_said(id, "creating " + mig::format_placement(*gpu->model, placement));
  if (code != nvml::kSuccess) return nvml_error(code, doing);
  const Answer<nvml::ComputeInstance> compute = fill(*gpu, handle, profile.compute_slices);
  if (!compute) {
    DeviceError error = compute.error();
    const Return undone = (*library_)->gi_destroy(handle);
    error.message = fmt::format(
        "{}: {}; {}", doing, error.message,
        undone == nvml::kSuccess
            ? "the GPU instance was taken back"
            : "the GPU instance is left, for taking it back failed with " + nvml_code_name(undone));
    return error;
  }
  const Answer<Found> found = look_at(*gpu, handle, placement.profile);
  if (!found) return found.error();
  forget(*gpu, found->info.id);  // whatever was there before, this is new
  return shown(*gpu, *found);
}

std::vector<ProcessUse> NvmlSession::holders(const Found& found) {
  if (found.mig_device == nullptr) return {};
  std::vector<nvml::ProcessInfo> infos(16);
  const Return code = fill_list(infos, [&](nvml::ProcessInfo* items, unsigned* count) {
    return (*library_)->compute_processes(found.mig_device, count, items);
  });
  if (code != nvml::kSuccess) return {};
  std::vector<ProcessUse> processes;
  for (const nvml::ProcessInfo& info : infos) {
    const bool known = info.used_gpu_memory != nvml::kValueNotAvailable;
    processes.push_back({static_cast<int>(info.pid),
                         known ? static_cast<std::int64_t>(info.used_gpu_memory >> kMibShift) : 0});
  }
  std::ranges::sort(processes, {}, &ProcessUse::pid);
  return processes;
}

Done NvmlSession::destroy_compute(const Opened& gpu, const Found& found) {
  for (const auto& [handle, info] : found.compute) {
    Return code = (*library_)->ci_destroy(handle);
    std::vector<ProcessUse> who = code == nvml::kInUse ? holders(found) : std::vector<ProcessUse>();
    for (const std::chrono::milliseconds pause : pauses_) {
      if (code != nvml::kInUse || !who.empty()) break;
      std::this_thread::sleep_for(pause);
      code = (*library_)->ci_destroy(handle);
      who = holders(found);
    }
    if (code == nvml::kSuccess || code == nvml::kNotFound) continue;
    DeviceError error = nvml_error(code, gpu_said(gpu.id, "destroying " + found.uuid));
    if (code != nvml::kInUse) return error;
    for (const ProcessUse& process : who) error.pids.push_back(process.pid);
    error.message += who.empty() ? "; no process is visible on it: a monitor (DCGM, nvsm, another "
                                   "nvidia-smi) may hold a file of /dev/nvidia-caps"
                                 : fmt::format("; held by process {}", fmt::join(error.pids, ", "));
    return error;
  }
  return Nothing{};
}

Done NvmlSession::destroy_gpu_instance(const Opened& gpu, const Found& found) {
  Return code = (*library_)->gi_destroy(found.handle);
  for (const std::chrono::milliseconds pause : pauses_) {
    if (code != nvml::kInUse) break;
    std::this_thread::sleep_for(pause);
    code = (*library_)->gi_destroy(found.handle);
  }
  if (code == nvml::kSuccess || code == nvml::kNotFound) return Nothing{};
  DeviceError error =
      nvml_error(code, gpu_said(gpu.id, fmt::format("destroying GPU instance {}", found.info.id)));
  if (code == nvml::kInUse) {
    error.message +=
        "; its compute instance is gone, and someone unseen holds a file of /dev/nvidia-caps";
  }
  return error;
}

Done NvmlSession::destroy(const InstanceKey& key) {
  const Answer<Opened> gpu = open_enabled(key.gpu);
  if (!gpu) return gpu.fault() == Fault::kNotSupported ? replaced(key) : gpu.error();
  const Answer<Found> found = find(*gpu, key);
  if (!found) return found.error();
  Done done = destroy_compute(*gpu, *found);
  if (!done) return done;
  done = destroy_gpu_instance(*gpu, *found);
  if (!done) return done;
  // Events that wait now arose before the place could be given to someone else.
  const Done drained = drain_events();
  (void)drained;  // whoever polls next meets the same error
  forget(*gpu, key.gi);
  return done;
}

Answer<MemoryUse> NvmlSession::memory(const InstanceKey& key) {
  const Answer<Opened> gpu = open_enabled(key.gpu);
  if (!gpu) return gpu.fault() == Fault::kNotSupported ? replaced(key) : gpu.error();
  const Answer<Found> found = find(*gpu, key);
  if (!found) return found.error();
  if (found->mig_device == nullptr) {
    const double gib = gpu->model->profiles[found->profile].memory_gib;
    return MemoryUse{0, static_cast<std::int64_t>(gib * 1024)};
  }
  nvml::MemoryV2 memory = {};
  memory.version = nvml::kMemoryV2;
  const Return code = (*library_)->memory_info(found->mig_device, &memory);
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(key.gpu, "reading memory in use"));
  return MemoryUse{static_cast<std::int64_t>(memory.used >> kMibShift),
                   static_cast<std::int64_t>(memory.total >> kMibShift)};
}

Answer<std::vector<ProcessUse>> NvmlSession::processes(const InstanceKey& key) {
  const Answer<Opened> gpu = open_enabled(key.gpu);
  if (!gpu) return gpu.fault() == Fault::kNotSupported ? replaced(key) : gpu.error();
  const Answer<Found> found = find(*gpu, key);
  if (!found) return found.error();
  return holders(*found);
}

Answer<std::int64_t> NvmlSession::power_mw(GpuId id) {
  const Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  unsigned milliwatts = 0;
  const Return code = (*library_)->power_usage(gpu->device, &milliwatts);
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(id, "reading its power"));
  return static_cast<std::int64_t>(milliwatts);
}

Answer<std::int64_t> NvmlSession::energy_mj(GpuId id) {
  const Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  unsigned long long millijoules = 0;
  const Return code = (*library_)->total_energy(gpu->device, &millijoules);
  if (code != nvml::kSuccess) return nvml_error(code, gpu_said(id, "reading its energy"));
  return static_cast<std::int64_t>(millijoules);
}

// What one of them does not say is absent; a GPU that is gone is seen by who opens it.
Answer<BoardUse> NvmlSession::board(GpuId id) {
  const Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  BoardUse use;
  nvml::Utilization busy{};
  if ((*library_)->utilization(gpu->device, &busy) == nvml::kSuccess) {
    use.utilisation = busy.gpu / 100.0;
  }
  unsigned degrees = 0;
  if ((*library_)->temperature(gpu->device, nvml::kTemperatureOfGpu, &degrees) == nvml::kSuccess) {
    use.temperature_c = degrees;
  }
  unsigned milliwatts = 0;
  if ((*library_)->power_limit(gpu->device, &milliwatts) == nvml::kSuccess) {
    use.power_limit_w = milliwatts / 1000.0;
  }
  return use;
}

Done NvmlSession::set_mig_mode(GpuId id, bool enabled) {
  const Answer<Opened> gpu = open(id);
  if (!gpu) return gpu.error();
  Return activation = nvml::kSuccess;
  const Return code = (*library_)->set_mig_mode(gpu->device, enabled ? 1 : 0, &activation);
  const std::string doing = gpu_said(id, enabled ? "turning MIG mode on" : "turning MIG mode off");
  if (code != nvml::kSuccess) return nvml_error(code, doing);
  if (activation != nvml::kSuccess) return nvml_error(activation, doing);
  return Nothing{};
}

}  // namespace partita::device
