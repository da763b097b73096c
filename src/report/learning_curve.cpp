#include "report/learning_curve.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace partita::report {
namespace {

using Json = nlohmann::ordered_json;

struct Validation {
  std::string phase;
  double et = 0;
  double best_et = 0;
  double energy_kwh = 0;
};

// Nothing when the line is not one of a training log.
std::optional<Validation> parse_validation(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  for (const char* key : {"validation_et", "best_et", "validation_energy_w_min"}) {
    if (!json.contains(key) || !json[key].is_number()) return {};
  }
  if (!json.contains("phase") || !json["phase"].is_string()) return {};
  return Validation{json["phase"], json["validation_et"], json["best_et"],
                    json["validation_energy_w_min"].get<double>() * 60 / 3.6e6};
}

Json point(std::size_t index, double y) {
  return {{"x", index + 1}, {"y", y}};
}

Json figure(const std::string& title, const std::string& note, const std::string& y_label,
            Json series) {
  return {{"kind", "xy"},       {"title", title},
          {"note", note},       {"x_label", "validation"},
          {"y_label", y_label}, {"series", std::move(series)}};
}

// A curve for each phase, in order of appearance.
Json phase_series(const std::vector<Validation>& all, double Validation::*value) {
  Json series = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (series.empty() || series.back()["name"] != all[i].phase) {
      series.push_back({{"name", all[i].phase}, {"points", Json::array()}});
    }
    series.back()["points"].push_back(point(i, all[i].*value));
  }
  return series;
}

}  // namespace

Result<Json> learning_figures(std::string_view log) {
  std::vector<Validation> all;
  std::size_t number = 0;
  for (const std::string_view raw : split(log, '\n')) {
    ++number;
    if (trim(raw).empty()) continue;
    auto validation = parse_validation(trim(raw));
    if (!validation) {
      return Error{fmt::format(
          "line {} is not a validation of a training log: wanted phase, validation_et, best_et and "
          "validation_energy_w_min",
          number)};
    }
    all.push_back(*std::move(validation));
  }
  if (all.empty()) return Error{"the training log has no validation"};
  Json et = phase_series(all, &Validation::et);
  Json best = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) best.push_back(point(i, all[i].best_et));
  et.push_back({{"name", "the model that is kept"}, {"points", std::move(best)}});
  return Json::array(
      {figure("Learning curve", "Mean ET on the validation days, which training does not see.",
              "ET (min)", std::move(et)),
       figure("Energy while learning", "Mean energy of the same days.", "kWh a day",
              phase_series(all, &Validation::energy_kwh))});
}

}  // namespace partita::report
