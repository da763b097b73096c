#include "device/simulated/simulated_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "base/whole_file.h"

namespace partita::device {
namespace {

using nlohmann::json;

json instance_json(const mig::GpuModel& model, const SimulatedInstance& instance) {
  return {{"placement", mig::format_placement(model, instance.placement)},
          {"gi", instance.gi},
          {"uuid", instance.uuid},
          {"generation", instance.generation}};
}

json gpu_json(const SimulatedGpu& gpu) {
  json instances = json::array();
  for (const SimulatedInstance& instance : gpu.instances) {
    instances.push_back(instance_json(*gpu.model, instance));
  }
  return {{"model", gpu.model->key},
          {"uuid", gpu.uuid},
          {"mig_enabled", gpu.mig_enabled},
          {"instances", std::move(instances)},
          {"energy_mj", gpu.energy.millijoules},
          {"energy_nj", gpu.energy.nanojoules},
          {"energy_until_us", gpu.energy.until.count},
          {"power_mw", gpu.energy.milliwatts}};
}

Result<SimulatedInstance> parse_instance(const mig::GpuModel& model, mig::Layout& layout,
                                         const json& from) {
  const Result<mig::Layout> alone =
      mig::parse_layout(model, from.at("placement").get<std::string>());
  if (!alone) return alone.error();
  if (alone->instances().size() != 1) return Error{"an instance has one placement"};
  const mig::Placement placement = alone->instances().front();
  if (std::optional<std::string> reason = mig::why_not(model, layout, placement)) {
    return Error{std::move(*reason)};
  }
  layout.add(placement);
  return SimulatedInstance{placement, from.at("gi").get<std::uint32_t>(),
                           from.at("uuid").get<std::string>(),
                           from.at("generation").get<std::uint64_t>()};
}

Result<SimulatedGpu> parse_gpu(const json& from) {
  SimulatedGpu gpu;
  const Result<const mig::GpuModel*> model = mig::find_gpu(from.at("model").get<std::string>());
  if (!model) return model.error();
  gpu.model = *model;
  gpu.uuid = from.at("uuid").get<std::string>();
  gpu.mig_enabled = from.at("mig_enabled").get<bool>();
  gpu.energy = {from.at("energy_mj").get<std::int64_t>(), from.at("energy_nj").get<std::int64_t>(),
                Micros{from.at("energy_until_us").get<std::int64_t>()},
                from.at("power_mw").get<std::int64_t>()};
  mig::Layout layout;
  for (const json& instance : from.at("instances")) {
    Result<SimulatedInstance> parsed = parse_instance(*gpu.model, layout, instance);
    if (!parsed) return parsed.error();
    gpu.instances.push_back(std::move(*parsed));
  }
  return gpu;
}

Result<SimulatedState> state_from(const json& from) {
  SimulatedState state;
  if (from.at("format").get<std::string>() != "partita-simulated-gpus-1") {
    return Error{"expected format partita-simulated-gpus-1"};
  }
  state.seed = from.at("seed").get<std::uint64_t>();
  state.made = from.at("made").get<std::uint64_t>();
  state.boot_id = from.at("boot_id").get<std::string>();
  for (const json& gpu : from.at("gpus")) {
    Result<SimulatedGpu> parsed = parse_gpu(gpu);
    if (!parsed) return parsed.error();
    state.gpus.push_back(std::move(*parsed));
  }
  return state;
}

}  // namespace

void EnergyCounter::count_to(Micros now) {
  constexpr std::int64_t kNanojoulesPerMillijoule = 1'000'000;
  if (now <= until) return;
  // Seconds and the rest apart, so that no product leaves 64 bits.
  const std::int64_t span = (now - until).count;
  millijoules += span / kNanojoulesPerMillijoule * milliwatts;
  nanojoules += span % kNanojoulesPerMillijoule * milliwatts;
  millijoules += nanojoules / kNanojoulesPerMillijoule;
  nanojoules %= kNanojoulesPerMillijoule;
  until = now;
}

std::string draw_uuid(SimulatedState& state, std::string_view prefix) {
  Rng rng(state.seed, ++state.made);
  const std::uint64_t high = rng.next();
  const std::uint64_t low = rng.next();
  return fmt::format("{}{:08x}-{:04x}-5{:03x}-a{:03x}-{:012x}", prefix, high >> 32U,
                     (high >> 16U) & 0xffffU, high & 0xfffU, low >> 52U, low & 0xffffffffffffU);
}

SimulatedState fresh_state(const SimulatedOptions& options, Micros now) {
  SimulatedState state;
  state.seed = options.seed;
  state.boot_id = draw_uuid(state, "");
  for (const mig::GpuModel* model : options.gpus) {
    SimulatedGpu gpu{.model = model,
                     .uuid = draw_uuid(state, "GPU-"),
                     .mig_enabled = options.mig_enabled,
                     .instances = {},
                     .energy = {}};
    gpu.energy.until = now;
    state.gpus.push_back(std::move(gpu));
  }
  return state;
}

std::string format_state(const SimulatedState& state) {
  json gpus = json::array();
  for (const SimulatedGpu& gpu : state.gpus) gpus.push_back(gpu_json(gpu));
  const json all = {{"format", "partita-simulated-gpus-1"},
                    {"seed", state.seed},
                    {"made", state.made},
                    {"boot_id", state.boot_id},
                    {"gpus", std::move(gpus)}};
  return all.dump(1) + "\n";
}

Result<SimulatedState> parse_state(std::string_view text) {
  try {
    return state_from(json::parse(text));
  } catch (const json::exception& error) {
    return Error{error.what()};
  }
}

Result<std::optional<SimulatedState>> read_state_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<SimulatedState>();
  const Result<std::string> text = read_whole_file(path.string());
  if (!text) return text.error();
  Result<SimulatedState> state = parse_state(*text);
  if (!state) return Error{fmt::format("{}: {}", path.string(), state.error().message)};
  return std::optional(std::move(*state));
}

Status write_state_file(const std::filesystem::path& path, const SimulatedState& state) {
  const std::string beside = fmt::format("{}.{}.new", path.string(), ::getpid());
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << format_state(state);
    if (!file.flush()) return Error{fmt::format("{}: {}", beside, std::strerror(errno))};
  }
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
  return {};
}

}  // namespace partita::device
