#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/live/daemon_client.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

// Three digits at least: the first jobs of a day are small beside a half-life.
std::string shown_amount(double amount) {
  return amount >= 100 ? fmt::format("{:.0f}", amount) : fmt::format("{:.3g}", amount);
}

std::string share_text(const nlohmann::ordered_json& json, bool bold) {
  const std::string measure = json["measure"].get<std::string>();
  if (measure == "off") return "users do not share: the daemon runs with --fair-share off\n";
  const bool joules = measure == "joules";
  Table table({{"user", Align::kLeft},
               {"share", Align::kRight},
               {joules ? "recent kJ" : "recent slice-h", Align::kRight},
               {joules ? "total kJ" : "total slice-h", Align::kRight},
               {joules ? "watts now" : "slices now", Align::kRight},
               {"level", Align::kRight}});
  const double unit = joules ? 1000 : 3600;
  for (const auto& user : json["users"]) {
    table.add({user["user"].get<std::string>(), fmt::format("{:g}", user["share"].get<double>()),
               shown_amount(user["usage"].get<double>() / unit),
               shown_amount(user["total"].get<double>() / unit),
               fmt::format("{:.0f}", user["rate"].get<double>()),
               shown_amount(user["level"].get<double>())});
  }
  const char* first = measure == "priority"
                          ? "jobs of a higher priority go first, whatever their users have had"
                          : "those with the lowest level go first";
  return table.text(bold) + fmt::format("\nwhat was used {:g} h ago counts half; {}\n",
                                        json["half_life_s"].get<double>() / 3600, first);
}

}  // namespace

Outcome run_share(const Values& values, Console& console) {
  DaemonClient client(values);
  const DaemonAnswer answer = client.ask("GET", "/v1/share");
  if (!answer.good()) return fail(answer);
  const nlohmann::ordered_json json = answer.json();
  return print_either(values, console, json, share_text(json, console.bold));
}

}  // namespace partita::cli
