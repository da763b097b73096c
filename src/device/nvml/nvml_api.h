// Our declarations of the part of NVML that we call. Layouts and numbers are those of NVIDIA's
// nvml.h (driver 580), so that the library can be loaded at run time and none is needed to build.
#pragma once

#include <cstddef>

namespace partita::device::nvml {

using Return = int;  // the codes below; a driver may give others
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kLibraryNotFound = 12;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kLibRmVersionMismatch = 18;
inline constexpr Return kInUse = 19;
inline constexpr Return kInsufficientResources = 23;
inline constexpr Return kArgumentVersionMismatch = 25;
inline constexpr Return kNotReady = 27;
inline constexpr Return kGpuNotFound = 28;
inline constexpr Return kInvalidState = 29;
inline constexpr Return kUnknown = 999;

using Device = struct DeviceTag*;
using GpuInstance = struct GpuInstanceTag*;
using ComputeInstance = struct ComputeInstanceTag*;
using EventSet = struct EventSetTag*;

inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kNameBytes = 96;
inline constexpr unsigned kVersionBytes = 80;

// The profile arguments run from 0; the driver ends the list with INVALID_ARGUMENT.
inline constexpr unsigned kGpuInstanceProfilesMax = 64;
inline constexpr unsigned kComputeInstanceProfilesMax = 8;
inline constexpr unsigned kSharedEngines = 0;
inline constexpr unsigned kNoInstanceId = 0xFFFFFFFFU;
inline constexpr unsigned long long kXidCriticalError = 0x8;
inline constexpr unsigned long long kValueNotAvailable = ~0ULL;

inline constexpr int kTemperatureOfGpu = 0;  // the sensor of the die

// Percent of the last sample period, which is up to a second.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

constexpr unsigned struct_version(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | (version << 24U);
}

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40);
inline constexpr unsigned kMemoryV2 = struct_version(sizeof(MemoryV2), 2);

struct GpuInstancePlacement {
  unsigned start;  // memory slices for GPU instances, compute slices for compute instances
  unsigned size;
};

struct GpuInstanceProfile {
  unsigned id;
  unsigned is_p2p_supported;
  unsigned slice_count;
  unsigned instance_count;
  unsigned multiprocessor_count;
  unsigned copy_engine_count;
  unsigned decoder_count;
  unsigned encoder_count;
  unsigned jpeg_count;
  unsigned ofa_count;
  unsigned long long memory_size_mb;
};
static_assert(sizeof(GpuInstanceProfile) == 48);

struct GpuInstanceProfileV2 {
  unsigned version;
  unsigned id;
  unsigned is_p2p_supported;
  unsigned slice_count;
  unsigned instance_count;
  unsigned multiprocessor_count;
  unsigned copy_engine_count;
  unsigned decoder_count;
  unsigned encoder_count;
  unsigned jpeg_count;
  unsigned ofa_count;
  unsigned long long memory_size_mb;
  char name[kNameBytes];
};
static_assert(sizeof(GpuInstanceProfileV2) == 152);
static_assert(offsetof(GpuInstanceProfileV2, name) == 56);
inline constexpr unsigned kGpuInstanceProfileV2 = struct_version(sizeof(GpuInstanceProfileV2), 2);

struct GpuInstanceInfo {
  Device device;
  unsigned id;
  unsigned profile_id;
  GpuInstancePlacement placement;
};
static_assert(sizeof(GpuInstanceInfo) == 24);

struct ComputeInstanceProfile {
  unsigned id;
  unsigned slice_count;
  unsigned instance_count;
  unsigned multiprocessor_count;
  unsigned shared_copy_engine_count;
  unsigned shared_decoder_count;
  unsigned shared_encoder_count;
  unsigned shared_jpeg_count;
  unsigned shared_ofa_count;
};
static_assert(sizeof(ComputeInstanceProfile) == 36);

struct ComputeInstanceInfo {
  Device device;  // the MIG device
  GpuInstance gpu_instance;
  unsigned id;
  unsigned profile_id;
  GpuInstancePlacement placement;
};
static_assert(sizeof(ComputeInstanceInfo) == 32);

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
static_assert(sizeof(ProcessInfo) == 24);

struct EventData {
  Device device;
  unsigned long long event_type;
  unsigned long long event_data;  // the Xid
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};
static_assert(sizeof(EventData) == 32);

// One row a function we call: our name, NVML's name, its parameters. Included by who needs a field,
// a lookup or a definition of each.
#define PARTITA_NVML_FUNCTIONS(ROW)                                                               \
  ROW(init, nvmlInit_v2, ())                                                                      \
  ROW(shutdown, nvmlShutdown, ())                                                                 \
  ROW(driver_version, nvmlSystemGetDriverVersion, (char*, unsigned))                              \
  ROW(device_count, nvmlDeviceGetCount_v2, (unsigned*))                                           \
  ROW(device_by_index, nvmlDeviceGetHandleByIndex_v2, (unsigned, Device*))                        \
  ROW(device_index, nvmlDeviceGetIndex, (Device, unsigned*))                                      \
  ROW(uuid, nvmlDeviceGetUUID, (Device, char*, unsigned))                                         \
  ROW(name, nvmlDeviceGetName, (Device, char*, unsigned))                                         \
  ROW(pci_info, nvmlDeviceGetPciInfo_v3, (Device, PciInfo*))                                      \
  ROW(memory_info, nvmlDeviceGetMemoryInfo_v2, (Device, MemoryV2*))                               \
  ROW(power_usage, nvmlDeviceGetPowerUsage, (Device, unsigned*))                                  \
  ROW(total_energy, nvmlDeviceGetTotalEnergyConsumption, (Device, unsigned long long*))           \
  ROW(utilization, nvmlDeviceGetUtilizationRates, (Device, Utilization*))                         \
  ROW(temperature, nvmlDeviceGetTemperature, (Device, int, unsigned*))                            \
  ROW(power_limit, nvmlDeviceGetEnforcedPowerLimit, (Device, unsigned*))                          \
  ROW(compute_processes, nvmlDeviceGetComputeRunningProcesses_v3,                                 \
      (Device, unsigned*, ProcessInfo*))                                                          \
  ROW(mig_mode, nvmlDeviceGetMigMode, (Device, unsigned*, unsigned*))                             \
  ROW(set_mig_mode, nvmlDeviceSetMigMode, (Device, unsigned, Return*))                            \
  ROW(gi_profile, nvmlDeviceGetGpuInstanceProfileInfo, (Device, unsigned, GpuInstanceProfile*))   \
  ROW(gi_profile_v, nvmlDeviceGetGpuInstanceProfileInfoV,                                         \
      (Device, unsigned, GpuInstanceProfileV2*))                                                  \
  ROW(gi_placements, nvmlDeviceGetGpuInstancePossiblePlacements_v2,                               \
      (Device, unsigned, GpuInstancePlacement*, unsigned*))                                       \
  ROW(gi_create, nvmlDeviceCreateGpuInstanceWithPlacement,                                        \
      (Device, unsigned, const GpuInstancePlacement*, GpuInstance*))                              \
  ROW(gi_destroy, nvmlGpuInstanceDestroy, (GpuInstance))                                          \
  ROW(gi_list, nvmlDeviceGetGpuInstances, (Device, unsigned, GpuInstance*, unsigned*))            \
  ROW(gi_by_id, nvmlDeviceGetGpuInstanceById, (Device, unsigned, GpuInstance*))                   \
  ROW(gi_info, nvmlGpuInstanceGetInfo, (GpuInstance, GpuInstanceInfo*))                           \
  ROW(ci_profile, nvmlGpuInstanceGetComputeInstanceProfileInfo,                                   \
      (GpuInstance, unsigned, unsigned, ComputeInstanceProfile*))                                 \
  ROW(ci_create, nvmlGpuInstanceCreateComputeInstance, (GpuInstance, unsigned, ComputeInstance*)) \
  ROW(ci_destroy, nvmlComputeInstanceDestroy, (ComputeInstance))                                  \
  ROW(ci_list, nvmlGpuInstanceGetComputeInstances,                                                \
      (GpuInstance, unsigned, ComputeInstance*, unsigned*))                                       \
  ROW(ci_info, nvmlComputeInstanceGetInfo_v2, (ComputeInstance, ComputeInstanceInfo*))            \
  ROW(mig_device_count, nvmlDeviceGetMaxMigDeviceCount, (Device, unsigned*))                      \
  ROW(mig_device_by_index, nvmlDeviceGetMigDeviceHandleByIndex, (Device, unsigned, Device*))      \
  ROW(mig_device_gi, nvmlDeviceGetGpuInstanceId, (Device, unsigned*))                             \
  ROW(mig_device_ci, nvmlDeviceGetComputeInstanceId, (Device, unsigned*))                         \
  ROW(event_set_create, nvmlEventSetCreate, (EventSet*))                                          \
  ROW(event_set_free, nvmlEventSetFree, (EventSet))                                               \
  ROW(register_events, nvmlDeviceRegisterEvents, (Device, unsigned long long, EventSet))          \
  ROW(event_wait, nvmlEventSetWait_v2, (EventSet, EventData*, unsigned))

// One pointer a function, null where the library has no such symbol.
struct Functions {
#define PARTITA_NVML_FIELD(field, symbol, parameters) Return(*field) parameters = nullptr;
  PARTITA_NVML_FUNCTIONS(PARTITA_NVML_FIELD)
#undef PARTITA_NVML_FIELD
};

}  // namespace partita::device::nvml
