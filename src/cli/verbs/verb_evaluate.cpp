#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/flags/day_sources.h"
#include "cli/flags/run_settings.h"
#include "cli/output/progress_bar.h"
#include "cli/text/judged_text.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "nn/model.h"
#include "policies/layout_list.h"
#include "policies/learned/place_rules.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

using experiment::Judged;
using experiment::Role;

// One policy of the comparison. What the model is not about is that of the run.
struct Contender {
  std::string name;
  experiment::Policy policy;
};

// The model first, then what it is compared with.
Result<std::vector<Contender>> contenders(const Values& values, const RunSettings& settings,
                                          bool places) {
  const bool given = values.given("against") != nullptr;
  const std::string against = given    ? values.text("against")
                              : places ? settings.policy.scheduler
                                       : settings.policy.repartition;
  std::vector<std::string> names{"learned:" + values.text("model")};
  for (const std::string_view rule : split(against, '|')) names.emplace_back(trim(rule));
  std::vector<Contender> all;
  for (const std::string& name : names) {
    experiment::Policy policy = settings.policy;
    (places ? policy.scheduler : policy.repartition) = name;
    const auto facts = policies::scheduler_facts(policy.scheduler);
    const auto made = policies::make_repartitioner(policy.repartition, *settings.options.model,
                                                   settings.options.gpus);
    const char* flag = all.empty() ? "model" : "against";
    if (!facts) return values.wrong(flag, facts.error());
    if (!made) return values.wrong(flag, made.error());
    all.push_back({name, std::move(policy)});
  }
  return all;
}

// A timetable of 24 mixes would make the table as wide as a book.
std::string shortened(const std::string& full) {
  const std::string name = policies::with_runs(full);
  constexpr std::size_t kShown = 48;
  return name.size() <= kShown ? name : name.substr(0, kShown - 3) + "...";
}

std::string evaluation_text(const std::vector<Judged>& all, const std::string& kind, bool bold) {
  Table means({{"policy", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh a day", Align::kRight},
               {"tardy min", Align::kRight},
               {"late %", Align::kRight}});
  Table gains({{"the model against", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh", Align::kRight},
               {"tardy min", Align::kRight},
               {"late jobs", Align::kRight}});
  const Judged& model = all.front();
  for (const Judged& each : all) {
    means.add({shortened(each.name), with_interval(each.et, 4), with_interval(each.energy_kwh, 3),
               with_interval(each.tardiness_min, 3), with_interval(each.late_percent, 1)});
    if (&each == &model) continue;
    gains.add({shortened(each.name), percent_text(model.et, each.et),
               percent_text(model.energy_kwh, each.energy_kwh),
               percent_text(model.tardiness_min, each.tardiness_min),
               percent_text(model.late_percent, each.late_percent)});
  }
  return fmt::format("{} {} days, 95 % intervals\n\n{}\n{}", model.et.size(), kind,
                     means.text(bold), gains.text(bold));
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
    const Judged& ours = all.front();
    each["model_et_percent"] = percent_json(ours.et, all[i].et);
    each["model_energy_percent"] = percent_json(ours.energy_kwh, all[i].energy_kwh);
    each["model_tardiness_percent"] = percent_json(ours.tardiness_min, all[i].tardiness_min);
    each["model_late_percent"] = percent_json(ours.late_percent, all[i].late_percent);
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
  const auto policies = contenders(values, *settings, policies::is_place_model(model->facts));
  if (!policies) return policies.error();
  const auto source = day_source(values, console);
  if (!source) return source.error();
  const auto days = make_days(*source, values.as<Role>("on"), values.count("test-days"));
  if (!days) return days.error();
  settings->options.horizon = horizon_of(values, source->window);
  std::vector<Judged> all;
  for (const Contender& each : *policies) {
    ProgressBar bar(console.shows_progress, "judging " + each.name);
    auto judged = experiment::judge(*days, settings->options, each.policy,
                                    [&](double part) { bar.at(part); });
    if (!judged) {
      complain(judged.error().message);
      return 1;
    }
    judged->name = each.name;
    all.push_back(*std::move(judged));
  }
  return print_either(values, console, evaluation_json(all, *model, values.text("on")),
                      evaluation_text(all, values.text("on"), console.bold));
}

}  // namespace partita::cli
