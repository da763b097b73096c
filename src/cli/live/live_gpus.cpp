#include "cli/live/live_gpus.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/live/backends.h"
#include "cli/text/table.h"

namespace partita::cli {
namespace {

using device::Answer;
using device::Backend;
using device::GpuInfo;
using device::Instance;
using device::MigMode;
using nlohmann::ordered_json;

// A reading, or nothing where the GPU has no such meter.
template <typename T>
std::optional<T> reading(const Answer<T>& answer) {
  if (!answer) return {};
  return *answer;
}

struct Slice {
  Instance instance;
  std::optional<device::MemoryUse> memory;
  std::vector<device::ProcessUse> processes;
};

struct LiveGpu {
  GpuInfo info;
  std::optional<std::int64_t> power_mw;
  std::optional<std::int64_t> energy_mj;
  std::vector<Slice> slices;
};

std::string mode_name(MigMode mode) {
  if (mode == MigMode::kUnsupported) return "none";
  return mode == MigMode::kEnabled ? "on" : "off";
}

LiveGpu look_at(Backend& backend, const GpuInfo& info) {
  LiveGpu gpu{info, {}, {}, {}};
  if (info.trouble) return gpu;
  gpu.power_mw = reading(backend.power_mw(info.id));
  gpu.energy_mj = reading(backend.energy_mj(info.id));
  const Answer<std::vector<Instance>> instances = backend.instances(info.id);
  if (!instances) {
    gpu.info.trouble = instances.error();
    return gpu;
  }
  for (const Instance& instance : *instances) {
    const Answer<std::vector<device::ProcessUse>> processes = backend.processes(instance.key);
    gpu.slices.push_back({instance, reading(backend.memory(instance.key)),
                          processes ? *processes : std::vector<device::ProcessUse>()});
  }
  return gpu;
}

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json slice_json(const mig::GpuModel& model, const Slice& slice) {
  const mig::Profile& profile = model.profiles[slice.instance.placement.profile];
  ordered_json json;
  json["profile"] = profile.name;
  json["start"] = slice.instance.placement.start;
  json["size"] = profile.memory_slices;
  json["uuid"] = slice.instance.key.uuid;
  json["gi"] = slice.instance.key.gi;
  json["compute_instances"] = slice.instance.compute_instances;
  json["memory_used_mib"] = slice.memory ? ordered_json(slice.memory->used_mib) : ordered_json();
  json["memory_total_mib"] = slice.memory ? ordered_json(slice.memory->total_mib) : ordered_json();
  json["processes"] = ordered_json::array();
  for (const device::ProcessUse& process : slice.processes) {
    json["processes"].push_back({{"pid", process.pid}, {"used_mib", process.used_mib}});
  }
  return json;
}

ordered_json gpu_json(const LiveGpu& gpu) {
  ordered_json json;
  json["gpu"] = gpu.info.id.value;
  json["uuid"] = gpu.info.uuid;
  json["name"] = gpu.info.name;
  json["model"] = gpu.info.model ? ordered_json(gpu.info.model->key) : ordered_json();
  json["pci"] = fmt::format("0x{:08X}", gpu.info.pci);
  json["memory_mib"] = gpu.info.memory_mib;
  json["mig"] = mode_name(gpu.info.mode);
  json["monitored"] = gpu.info.monitored;
  json["power_mw"] = or_null(gpu.power_mw);
  json["energy_mj"] = or_null(gpu.energy_mj);
  json["trouble"] = gpu.info.trouble ? ordered_json(gpu.info.trouble->message) : ordered_json();
  json["profiles"] = ordered_json::array();
  if (gpu.info.model) {
    for (const mig::Profile& profile : gpu.info.model->profiles) {
      json["profiles"].push_back(
          {{"name", profile.name},
           {"nvml_id", profile.nvml_id},
           {"memory_gib", profile.memory_gib},
           {"sms", profile.sms},
           {"starts", std::vector<int>(profile.starts.begin(), profile.starts.end())},
           {"size", profile.memory_slices}});
    }
  }
  json["slices"] = ordered_json::array();
  for (const Slice& slice : gpu.slices) {
    json["slices"].push_back(slice_json(*gpu.info.model, slice));
  }
  return json;
}

std::vector<std::string> slice_row(const mig::GpuModel& model, const Slice& slice) {
  std::vector<int> pids;
  for (const device::ProcessUse& process : slice.processes) pids.push_back(process.pid);
  return {"  " + mig::format_placement(model, slice.instance.placement),
          slice.instance.orphan() ? "half made" : slice.instance.key.uuid,
          slice.memory
              ? fmt::format("{} of {} MiB", slice.memory->used_mib, slice.memory->total_mib)
              : "",
          "", fmt::format("{}", fmt::join(pids, " "))};
}

std::string table_of(const std::vector<LiveGpu>& gpus, bool bold) {
  Table table({{"GPU", Align::kLeft},
               {"UUID", Align::kLeft},
               {"memory", Align::kRight},
               {"power", Align::kRight},
               {"processes", Align::kLeft}});
  for (const LiveGpu& gpu : gpus) {
    table.add(
        {fmt::format("{} {}", gpu.info.id.value, gpu.info.name), gpu.info.uuid,
         fmt::format("{} MiB", gpu.info.memory_mib),
         gpu.power_mw ? fmt::format("{:.1f} W", static_cast<double>(*gpu.power_mw) / 1000) : "",
         gpu.info.trouble ? gpu.info.trouble->message : "MIG " + mode_name(gpu.info.mode)});
    for (const Slice& slice : gpu.slices) table.add(slice_row(*gpu.info.model, slice));
  }
  return table.text(bold);
}

}  // namespace

Outcome run_live_gpus(const Values& values, Console& console) {
  const auto backend = open_backend_of(values);
  if (!backend) return backend.error();
  const Answer<std::vector<GpuInfo>> infos = (*backend)->gpus();
  if (!infos) return told(infos.error());
  std::vector<LiveGpu> gpus;
  for (const GpuInfo& info : *infos) gpus.push_back(look_at(**backend, info));
  ordered_json json = ordered_json::array();
  for (const LiveGpu& gpu : gpus) json.push_back(gpu_json(gpu));
  return print_either(values, console, json, table_of(gpus, console.bold));
}

}  // namespace partita::cli
