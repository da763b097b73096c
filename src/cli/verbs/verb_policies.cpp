#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "cli/text/help.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

using decide::PolicyFacts;

std::vector<std::string> needs_of(const PolicyFacts& facts) {
  std::vector<std::string> needs;
  if (facts.needs_run_times) needs.emplace_back("run times");
  if (facts.needs_deadlines) needs.emplace_back("deadlines");
  if (facts.needs_power_curve) needs.emplace_back("power curve");
  if (facts.needs_seed) needs.emplace_back("seed");
  return needs;
}

std::vector<PolicyFacts> named_schedulers() {
  std::vector<PolicyFacts> all;
  for (const policies::SchedulerRow& row : policies::schedulers()) {
    const auto facts = policies::scheduler_facts(row.name);
    CHECK(facts.ok());
    all.push_back(*facts);
  }
  return all;
}

template <typename Row>
std::vector<PolicyFacts> facts_of(const std::vector<Row>& rows) {
  std::vector<PolicyFacts> all;
  for (const Row& row : rows) all.push_back(row.facts);
  return all;
}

nlohmann::ordered_json facts_json(const std::vector<PolicyFacts>& all) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PolicyFacts& facts : all) {
    json.push_back({{"name", facts.name},
                    {"summary", facts.summary},
                    {"source", facts.source},
                    {"needs", needs_of(facts)}});
  }
  return json;
}

nlohmann::ordered_json policies_json() {
  nlohmann::ordered_json json;
  json["schedulers"] = facts_json(named_schedulers());
  for (std::size_t i = 0; i < policies::schedulers().size(); ++i) {
    json["schedulers"][i]["order"] = policies::schedulers()[i].order;
    json["schedulers"][i]["placement"] = policies::schedulers()[i].placement;
  }
  json["orders"] = facts_json(facts_of(policies::orders()));
  json["placements"] = facts_json(facts_of(policies::placements()));
  json["repartitioners"] = facts_json(policies::repartitioners());
  return json;
}

std::string facts_text(const std::string& title, const std::vector<PolicyFacts>& all, bool bold) {
  Table table({{title, Align::kLeft}, {"what it does", Align::kLeft}, {"needs", Align::kLeft}});
  constexpr std::size_t kSummaryColumns = 90;
  for (const PolicyFacts& facts : all) {
    std::string name = facts.name;
    std::string needs = fmt::format("{}", fmt::join(needs_of(facts), ", "));
    const std::string summary = wrapped(facts.summary, kSummaryColumns, 0);
    for (const std::string_view line : split(summary, '\n')) {
      table.add({std::exchange(name, ""), std::string(line), std::exchange(needs, "")});
    }
  }
  return table.text(bold);
}

std::string schedulers_text(bool bold) {
  Table table({{"scheduler", Align::kLeft},
               {"what it does", Align::kLeft},
               {"order+placement", Align::kLeft},
               {"needs", Align::kLeft},
               {"source", Align::kLeft}});
  const std::vector<PolicyFacts> facts = named_schedulers();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const policies::SchedulerRow& row = policies::schedulers()[i];
    table.add({row.name, row.summary, row.order + "+" + row.placement,
               fmt::format("{}", fmt::join(needs_of(facts[i]), ", ")), row.source});
  }
  return table.text(bold);
}

}  // namespace

Outcome run_policies(const Values& values, Console& console) {
  const bool bold = console.bold;
  const std::string text = schedulers_text(bold) + "\n" +
                           facts_text("order", facts_of(policies::orders()), bold) + "\n" +
                           facts_text("placement", facts_of(policies::placements()), bold) + "\n" +
                           facts_text("repartitioner", policies::repartitioners(), bold);
  return print_either(values, console, policies_json(), text);
}

}  // namespace partita::cli
