#include "cli/text/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "cli/text/judged_text.h"
#include "cli/text/table.h"
#include "experiment/statistics/statistics.h"
#include "policies/layout_list.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

using experiment::Relative;
using experiment::TunedMix;
using policies::with_runs;

// Something the tuned plan is compared with, on the same days. Without ET it cannot run every job.
struct Rival {
  std::string name;
  std::string repartition;
  std::span<const double> et;
  std::string reason;
};

// The first mixes may be those of a reference, or all that there is to find: then they are no rival
// of their own.
bool start_is_rival(const TunedMix& tuned) {
  const std::vector<double>& start = tuned.unseen_start_et;
  return !start.empty() && start != tuned.unseen_et &&
         std::ranges::none_of(tuned.references, [&](const auto& each) { return each.et == start; });
}

std::vector<Rival> rivals_of(const TunedMix& tuned) {
  std::vector<Rival> rivals;
  if (start_is_rival(tuned)) {
    rivals.push_back({"the mix it began with", to_text(tuned.start), tuned.unseen_start_et, {}});
  }
  for (const experiment::Reference& each : tuned.references) {
    const bool whole = policies::repartitioner_traits(each.repartition).whole_gpus;
    const std::string name = whole ? "whole GPUs" : each.repartition;
    rivals.push_back({name, each.repartition, each.et, each.reason});
  }
  return rivals;
}

// Where nothing was left out, what is known are the days it was tuned on.
std::span<const double> judged_et(const TunedMix& tuned) {
  return tuned.unseen_et.empty() ? tuned.et : tuned.unseen_et;
}

std::optional<Relative> against(const TunedMix& tuned, const Rival& rival) {
  if (rival.et.empty()) return {};
  return experiment::relative_difference(judged_et(tuned), rival.et);
}

bool decided(const std::optional<Relative>& change) {
  return change && change->interval && !change->interval->contains(0);
}

nlohmann::ordered_json rival_json(const TunedMix& tuned, const Rival& rival) {
  nlohmann::ordered_json json{{"name", rival.name}, {"repartition", rival.repartition}};
  if (rival.et.empty()) {
    json["cannot_run"] = rival.reason;
    return json;
  }
  const auto change = against(tuned, rival);
  json["et"] = mean_json(rival.et);
  json["et_percent"] = percent_json(change);
  json["decided"] = decided(change);
  return json;
}

nlohmann::ordered_json validation_json(const TunedMix& tuned) {
  nlohmann::ordered_json folds = nlohmann::ordered_json::array();
  for (const experiment::Fold& fold : tuned.folds) {
    folds.push_back({{"left_out", fold.left_out}, {"repartition", to_text(fold.plan)}});
  }
  nlohmann::ordered_json json{{"folds", folds},
                              {"folds_agreeing", tuned.folds_agreeing()},
                              {"share_agreed", tuned.share_agreed()}};
  if (tuned.unseen_et.empty()) {
    json["cannot_run"] = tuned.unseen_reason;
  } else {
    json["et"] = mean_json(tuned.unseen_et);
  }
  return json;
}

std::optional<Relative> against_runner_up(const TunedMix& tuned) {
  if (!tuned.runner_up) return {};
  return experiment::relative_difference(tuned.et, tuned.runner_up_et);
}

std::string plural(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string validation_table(const TunedMix& tuned, bool bold) {
  const bool unseen = !tuned.unseen_et.empty();
  Table table({{unseen ? "on days left out" : "on tuning days", Align::kLeft},
               {"ET", Align::kRight},
               {"tuned against it", Align::kRight}});
  table.add({"tuned", with_interval(judged_et(tuned), 4), ""});
  for (const Rival& rival : rivals_of(tuned)) {
    const auto change = against(tuned, rival);
    table.add({with_runs(rival.name), rival.et.empty() ? "cannot run" : with_interval(rival.et, 4),
               change ? percent_text(*change) : "-"});
  }
  return table.text(bold);
}

std::string rival_sentence(const TunedMix& tuned, const Rival& rival) {
  const std::string name = with_runs(rival.name);
  if (rival.et.empty()) {
    return fmt::format("{} cannot run every job: {}.", name, rival.reason);
  }
  const auto change = against(tuned, rival);
  if (!change || !change->interval) {
    return fmt::format("Against {}: one day cannot say whether the difference is luck.", name);
  }
  if (std::ranges::equal(judged_et(tuned), rival.et)) {
    return fmt::format("The search found nothing better than {}.", name);
  }
  if (!decided(change)) {
    return fmt::format("Whether it is better than {} is not decided by these days.", name);
  }
  if (change->share > 0) {
    return fmt::format("It is worse than {} on days it did not see: take {}.", name,
                       with_runs(rival.repartition));
  }
  return fmt::format("It is better than {}: the interval is below zero.", name);
}

std::string agreement_sentence(const TunedMix& tuned) {
  if (tuned.folds.empty()) {
    return "Nothing was left out, so this says nothing of days to come; more days and --folds do.";
  }
  std::string text = fmt::format(
      "{} of {} chose this very plan; on average {:.0f} % of the GPUs have the same layout.",
      tuned.folds_agreeing(), plural(tuned.folds.size(), "fold"), 100 * tuned.share_agreed());
  if (tuned.unseen_et.empty()) {
    text += fmt::format(" A fold's plan could not run the days left out: {}.", tuned.unseen_reason);
  }
  return text;
}

std::string runner_up_sentence(const TunedMix& tuned) {
  const auto change = against_runner_up(tuned);
  if (!change) return "";
  return fmt::format("Against the best other plan, {}: {} on the tuning days, {}.",
                     with_runs(to_text(*tuned.runner_up)), percent_text(*change),
                     decided(change) ? "decided" : "not decided, either will do");
}

}  // namespace

nlohmann::ordered_json tuned_json(const TunedMix& tuned) {
  nlohmann::ordered_json json{{"repartition", to_text(tuned.plan)},
                              {"tuning_days", tuned.et.size()},
                              {"tuning_et", experiment::mean(tuned.et)},
                              {"start", to_text(tuned.start)},
                              {"start_et", experiment::mean(tuned.start_et)},
                              {"evaluations", tuned.evaluations},
                              {"runs", tuned.runs}};
  if (!tuned.folds.empty()) json["cross_validation"] = validation_json(tuned);
  json["against"] = nlohmann::ordered_json::array();
  for (const Rival& rival : rivals_of(tuned)) json["against"].push_back(rival_json(tuned, rival));
  if (tuned.runner_up) {
    const auto change = against_runner_up(tuned);
    json["runner_up"] = {{"repartition", to_text(*tuned.runner_up)},
                         {"tuning_et", experiment::mean(tuned.runner_up_et)},
                         {"et_percent", percent_json(change)},
                         {"decided", decided(change)}};
  }
  return json;
}

std::string tuned_text(const TunedMix& tuned, bool bold) {
  std::string text = fmt::format(
      "--repartition {}\n\nET {:.4f} on {}, {:.4f} with {}; {:.0f} evaluations, {} runs; 95 % "
      "intervals\n\n{}\nHow sure: {}\n",
      with_runs(to_text(tuned.plan)), experiment::mean(tuned.et),
      plural(tuned.et.size(), "tuning day"), experiment::mean(tuned.start_et),
      with_runs(to_text(tuned.start)), tuned.evaluations, with_commas(tuned.runs),
      validation_table(tuned, bold), agreement_sentence(tuned));
  for (const Rival& rival : rivals_of(tuned)) text += rival_sentence(tuned, rival) + "\n";
  const std::string next = runner_up_sentence(tuned);
  return next.empty() ? text : text + next + "\n";
}

}  // namespace partita::cli
