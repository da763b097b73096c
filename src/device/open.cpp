#include "device/open.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "device/nvml/nvml.h"
#include "device/simulated/faulty.h"
#include "device/simulated/simulated.h"

namespace partita::device {
namespace {

using Opened = Result<std::unique_ptr<Backend>>;

Opened open_simulated(std::string_view text, Clock& clock) {
  Result<SimulatedOptions> options = parse_simulated(text.empty() ? "1xa100-40gb" : text);
  if (!options) return options.error();
  auto backend = SimulatedBackend::open(std::move(*options), clock);
  if (!backend) return backend.error();
  return std::unique_ptr<Backend>(std::move(*backend));
}

Opened open_nvml(std::string_view library, const OpenOptions& options) {
  NvmlOptions nvml;
  nvml.library = library.empty() ? options.nvml_library : std::string(library);
  return std::unique_ptr<Backend>(std::make_unique<NvmlBackend>(std::move(nvml)));
}

// "seed=N,rate=X", or rules.
Result<FaultyOptions> parse_faulty(std::string_view text) {
  FaultyOptions faulty;
  if (!text.starts_with("seed=")) {
    Result<std::vector<FaultRule>> rules = parse_fault_rules(text);
    if (!rules) return rules.error();
    faulty.rules = std::move(*rules);
    return faulty;
  }
  const auto parts = split(text, ',');
  const std::int64_t seed = parse_int(parts.front().substr(5)).value_or(-1);
  double rate = -1;
  if (parts.size() == 2 && parts[1].starts_with("rate=")) {
    rate = parse_double(parts[1].substr(5)).value_or(-1);
  }
  if (seed < 0 || rate < 0 || rate > 1) {
    return Error{fmt::format("'{}': expected seed=N,rate=X with a rate from 0 to 1", text)};
  }
  faulty.seed = static_cast<std::uint64_t>(seed);
  faulty.rate = rate;
  return faulty;
}

Opened open_faulty(std::string_view text, Clock& clock, const OpenOptions& options) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return Error{fmt::format("faulty:{}: expected faulty:RULES@BACKEND", text)};
  }
  Result<FaultyOptions> faulty = parse_faulty(text.substr(0, at));
  if (!faulty) return faulty.error();
  Opened inner = open_backend(text.substr(at + 1), clock, options);
  if (!inner) return inner.error();
  return std::unique_ptr<Backend>(
      std::make_unique<FaultyBackend>(std::move(*inner), std::move(*faulty), clock));
}

}  // namespace

Opened open_backend(std::string_view text, Clock& clock, const OpenOptions& options) {
  text = trim(text);
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (kind == "simulated") return open_simulated(rest, clock);
  if (kind == "nvml") return open_nvml(rest, options);
  if (kind == "faulty") return open_faulty(rest, clock, options);
  const std::vector<std::string> known = {"simulated:COUNTxMODEL", "nvml", "faulty:RULES@BACKEND"};
  return unknown_name("backend", text, known);
}

}  // namespace partita::device
