#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

std::string quota_text(const nlohmann::ordered_json& json, bool bold) {
  if (!json["any"].get<bool>()) return "no quotas: the daemon runs without --quotas\n";
  if (json["holders"].empty()) return "no quota: nobody asked for has one\n";
  Table table({{"holder", Align::kLeft},
               {"amount", Align::kLeft},
               {"used", Align::kRight},
               {"of", Align::kRight}});
  for (const auto& holder : json["holders"]) {
    const std::string who = fmt::format("{} {}", holder["holder"].get<std::string>(),
                                        holder["name"].get<std::string>());
    for (const auto& each : holder["amounts"]) {
      const std::string amount = each["amount"].get<std::string>();
      // Digits alike: with fewer, what is used up would look unused.
      table.add({who, amount, fmt::format("{:.6g}", each["used"].get<double>()),
                 fmt::format("{:.6g}", each["most"].get<double>())});
    }
  }
  return table.text(bold) + fmt::format("\ngpu-hours and joules are those of the {} until {}\n",
                                        json["period"].get<std::string>(),
                                        shown_instant(json["until_s"].get<double>()));
}

}  // namespace

Outcome run_quota(const Values& values, Console& console) {
  DaemonClient client(values);
  std::string path = "/v1/quota";
  if (values.is_set("quota-user")) path += "?user=" + in_query(values.text("quota-user"));
  const DaemonAnswer answer = client.ask("GET", path);
  if (!answer.good()) return fail(answer);
  const nlohmann::ordered_json json = answer.json();
  return print_either(values, console, json, quota_text(json, console.bold));
}

}  // namespace partita::cli
