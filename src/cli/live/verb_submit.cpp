#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/live/submission_request.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {

Outcome run_submit(const Values& values, Console& console) {
  const Result<nlohmann::ordered_json> body = submission_of(values);
  if (!body) return body.error();
  DaemonClient client(values);
  const DaemonAnswer answer = send_submission(client, *body);
  if (!answer.good()) return fail(answer);
  const nlohmann::ordered_json json = answer.json();
  if (values.has_switch("json")) {
    print_json(console, json);
    return 0;
  }
  for (const auto& id : json["jobs"])
    console.out.write(fmt::format("{}\n", id.get<std::int64_t>()));
  return 0;
}

}  // namespace partita::cli
