#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/http.h"
#include "api/routes.h"
#include "api/submission.h"
#include "control/jobs/job_spec.h"

// A request is read, or more is wanted, or it is refused; and what was read does not depend on what
// stands behind it. A body that is accepted survives the store.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  using partita::api::Parsed;
  const Parsed parsed = partita::api::parse_request(bytes);
  if (parsed.state == Parsed::State::kWhole) {
    if (parsed.used > size) std::abort();
    const Parsed again = partita::api::parse_request(bytes.substr(0, parsed.used));
    if (again.state != Parsed::State::kWhole || again.request.body != parsed.request.body) {
      std::abort();
    }
    partita::api::match_route(parsed.request.method, parsed.request.path);
  }
  const auto submit = partita::api::parse_submission(bytes);
  if (submit) {
    const auto spec = partita::control::decode_spec(partita::control::encode_spec(submit->spec));
    if (!spec || !(*spec == submit->spec)) std::abort();
  }
  return 0;
}
