#include "device/simulated/simulated_options.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/text.h"

namespace partita::device {
namespace {

constexpr std::string_view kWanted =
    "expected COUNTxMODEL[,COUNTxMODEL...][,state=FILE][,memory=DIR][,seed=N][,change-time=X]"
    "[,mig=on|off], as in 2xa100-40gb";

Status add_gpus(SimulatedOptions& options, std::string_view part) {
  std::int64_t count = 1;
  std::string_view name = part;
  const std::size_t x = part.find_first_of("xX*");
  if (x != std::string_view::npos) {
    if (const std::optional<std::int64_t> parsed = parse_int(part.substr(0, x))) {
      count = *parsed;
      name = part.substr(x + 1);
    }
  }
  const Result<const mig::GpuModel*> model = mig::find_gpu(name);
  if (!model) return model.error();
  const auto left = kSimulatedGpusMax - static_cast<std::int64_t>(options.gpus.size());
  if (count < 1 || count > left) {
    return Error{
        fmt::format("'{}': a simulated backend has 1 to {} GPUs", part, kSimulatedGpusMax)};
  }
  options.gpus.insert(options.gpus.end(), static_cast<std::size_t>(count), *model);
  return {};
}

Status set_seed(SimulatedOptions& options, std::string_view value) {
  const std::optional<std::int64_t> seed = parse_int(value);
  if (!seed || *seed < 0) return Error{fmt::format("seed={}: expected a whole number", value)};
  options.seed = static_cast<std::uint64_t>(*seed);
  return {};
}

Status set_change_time(SimulatedOptions& options, std::string_view value) {
  const std::optional<double> factor = parse_double(value);
  if (!factor || *factor < 0 || *factor > 1000) {
    return Error{fmt::format("change-time={}: expected a factor from 0 to 1000", value)};
  }
  options.change_time = *factor;
  return {};
}

Status set_option(SimulatedOptions& options, std::string_view name, std::string_view value) {
  if (name == "seed") return set_seed(options, value);
  if (name == "change-time") return set_change_time(options, value);
  if (name == "mig" && (value == "on" || value == "off")) {
    options.mig_enabled = value == "on";
    return {};
  }
  if ((name == "state" || name == "memory") && !value.empty()) {
    (name == "state" ? options.state_file : options.memory_dir) = std::string(value);
    return {};
  }
  return Error{fmt::format("'{}={}': {}", name, value, kWanted)};
}

}  // namespace

Result<SimulatedOptions> parse_simulated(std::string_view text) {
  SimulatedOptions options;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    const std::size_t equals = part.find('=');
    const Status status =
        equals == std::string_view::npos
            ? add_gpus(options, part)
            : set_option(options, part.substr(0, equals), part.substr(equals + 1));
    if (!status.ok()) return Error{fmt::format("simulated:{}: {}", text, status.error().message)};
  }
  if (options.gpus.empty()) return Error{fmt::format("simulated:{}: {}", text, kWanted)};
  return options;
}

}  // namespace partita::device
