#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/day_sources.h"
#include "cli/judging.h"
#include "cli/progress_bar.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "nn/model.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

using experiment::Role;

// The model first, then what it is compared with.
Result<std::vector<std::string>> contenders(const Values& values, const RunSettings& settings) {
  std::vector<std::string> all{"learned:" + values.text("model")};
  const bool given = values.given("against") != nullptr;
  const std::string against = given ? values.text("against") : settings.repartition;
  for (const std::string_view rule : split(against, '|')) all.emplace_back(trim(rule));
  for (const std::string& rule : all) {
    const auto made =
        policies::make_repartitioner(rule, *settings.options.model, settings.options.gpus);
    if (!made) return values.wrong(rule == all.front() ? "model" : "against", made.error());
  }
  return all;
}

std::string evaluation_text(const std::vector<Judged>& all, const std::string& kind, bool bold) {
  Table table({{"policy", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh a day", Align::kRight},
               {"tardy min", Align::kRight},
               {"late %", Align::kRight},
               {"ET of the model against it", Align::kRight},
               {"kWh", Align::kRight}});
  for (const Judged& each : all) {
    const bool model = &each == &all.front();
    table.add({each.repartition, with_interval(each.et, 4), with_interval(each.energy_kwh, 3),
               with_interval(each.tardiness_min, 3), with_interval(each.late_percent, 1),
               model ? "" : percent_text(all.front().et, each.et),
               model ? "" : percent_text(all.front().energy_kwh, each.energy_kwh)});
  }
  return fmt::format("{} {} days, 95 % intervals\n\n{}", all.front().et.size(), kind,
                     table.text(bold));
}

nlohmann::ordered_json evaluation_json(const std::vector<Judged>& all, const nn::Model& model,
                                       const std::string& kind) {
  nlohmann::ordered_json json{{"on", kind},
                              {"test_days", all.front().et.size()},
                              {"encoding", model.facts.encoding},
                              {"command", model.facts.command},
                              {"seed", model.facts.seed},
                              {"commit", model.facts.commit},
                              {"model", judged_json(all.front())}};
  json["against"] = nlohmann::ordered_json::array();
  for (std::size_t i = 1; i < all.size(); ++i) {
    nlohmann::ordered_json each = judged_json(all[i]);
    each["model_et_percent"] = percent_json(all.front().et, all[i].et);
    each["model_energy_percent"] = percent_json(all.front().energy_kwh, all[i].energy_kwh);
    json["against"].push_back(std::move(each));
  }
  return json;
}

}  // namespace

Outcome run_evaluate(const Values& values, Console& console) {
  if (values.given("model") == nullptr) return Error{"evaluate needs --model, the file to judge"};
  const auto model = nn::read_model(values.text("model"));
  if (!model) return values.wrong("model", model.error());
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  const auto rules = contenders(values, *settings);
  if (!rules) return rules.error();
  const auto source = day_source(values, console);
  if (!source) return source.error();
  const Role role = values.text("on") == "test" ? Role::kTest : Role::kTune;
  const auto days = make_days(*source, role, values.count("test-days"));
  if (!days) return days.error();
  settings->options.horizon =
      values.given("horizon") != nullptr ? values.seconds("horizon") : source->window;
  std::vector<Judged> all;
  for (const std::string& rule : *rules) {
    ProgressBar bar(console.shows_progress, "judging " + rule);
    auto judged = judge(*days, *settings, rule, values.text("scheduler"), bar);
    if (!judged) {
      complain(judged.error().message);
      return 1;
    }
    all.push_back(*std::move(judged));
  }
  if (values.has_switch("json")) {
    print_json(console, evaluation_json(all, *model, values.text("on")));
  } else {
    console.out.write(evaluation_text(all, values.text("on"), console.bold));
  }
  return 0;
}

}  // namespace partita::cli
