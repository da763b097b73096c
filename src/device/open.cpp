#include "device/open.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "device/simulated.h"

namespace partita::device {

Result<std::unique_ptr<Backend>> open_backend(std::string_view text, Clock& clock) {
  text = trim(text);
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (kind == "simulated") {
    Result<SimulatedOptions> options = parse_simulated(rest.empty() ? "1xa100-40gb" : rest);
    if (!options) return options.error();
    auto backend = SimulatedBackend::open(std::move(*options), clock);
    if (!backend) return backend.error();
    return std::unique_ptr<Backend>(std::move(*backend));
  }
  const std::vector<std::string> known = {"simulated:COUNTxMODEL"};
  return unknown_name("backend", text, known);
}

}  // namespace partita::device
