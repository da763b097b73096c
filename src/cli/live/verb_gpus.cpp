#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/live/live_gpus.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "mig/gpu_model.h"

namespace partita::cli {
namespace {

using mig::Confidence;
using mig::GpuModel;

bool established(Confidence confidence) {
  return confidence == Confidence::kEstablished;
}

std::string star(Confidence confidence) {
  return established(confidence) ? "" : "*";
}

// The least certain of the model's profiles.
Confidence profiles_confidence(const GpuModel& model) {
  for (const mig::Profile& profile : model.profiles) {
    if (!established(profile.confidence)) return Confidence::kAssumed;
  }
  return Confidence::kEstablished;
}

nlohmann::ordered_json profile_json(const mig::Profile& profile, const mig::ChangeSeconds& change) {
  nlohmann::ordered_json json;
  json["name"] = profile.name;
  json["nvml_id"] = profile.nvml_id;
  json["nvml_enum"] = profile.nvml_enum;
  json["compute_slices"] = profile.compute_slices;
  json["memory_slices"] = profile.memory_slices;
  json["memory_gib"] = profile.memory_gib;
  json["sms"] = profile.sms == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(profile.sms);
  json["instances_max"] = profile.instances_max;
  json["starts"] = std::vector<int>(profile.starts.begin(), profile.starts.end());
  json["media"] = profile.media;
  json["double_memory"] = profile.double_memory;
  json["create_s"] = change.create;
  json["destroy_s"] = change.destroy;
  json["established"] = established(profile.confidence);
  json["note"] = profile.note;
  return json;
}

nlohmann::ordered_json model_json(const GpuModel& model) {
  nlohmann::ordered_json json;
  json["gpu"] = model.key;
  json["title"] = model.title;
  json["compute_slices"] = model.compute_slices;
  json["memory_slices"] = model.memory_slices;
  json["sms_without_mig"] = model.sms_without_mig;
  json["change_source"] = model.change_source;
  json["change_established"] = established(model.change_confidence);
  for (const mig::PowerCurve& curve : model.power_curves) {
    json["power_curves"].push_back({{"name", curve.name},
                                    {"watts", curve.watts},
                                    {"source", curve.source},
                                    {"established", established(curve.confidence)}});
  }
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    json["profiles"].push_back(profile_json(model.profiles[i], model.change_seconds[i]));
  }
  return json;
}

std::string curve_names(const GpuModel& model) {
  std::vector<std::string> names;
  for (const mig::PowerCurve& curve : model.power_curves) {
    names.push_back(curve.name + star(curve.confidence));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string models_text(bool bold) {
  Table table({{"gpu", Align::kLeft},
               {"slices", Align::kRight},
               {"memory", Align::kRight},
               {"SMs", Align::kRight},
               {"profiles", Align::kRight},
               {"idle W", Align::kRight},
               {"full W", Align::kRight},
               {"power curves (the first is the default)", Align::kLeft}});
  for (const GpuModel* model : mig::catalogue()) {
    const mig::PowerCurve& power = model->power_curves.front();
    table.add({model->key, std::to_string(model->compute_slices),
               std::to_string(model->memory_slices), std::to_string(model->sms_without_mig),
               std::to_string(model->profiles.size()) + star(profiles_confidence(*model)),
               fmt::format("{:g}", power.watts.front()), fmt::format("{:g}", power.watts.back()),
               curve_names(*model)});
  }
  return table.text(bold) + "\n* not established for this part; carried over from a sibling\n";
}

std::string profiles_text(const GpuModel& model, bool bold) {
  Table table({{model.key, Align::kLeft},
               {"NVML id", Align::kRight},
               {"compute", Align::kRight},
               {"memory", Align::kRight},
               {"GiB", Align::kRight},
               {"SMs", Align::kRight},
               {"most", Align::kRight},
               {"create s", Align::kRight},
               {"destroy s", Align::kRight},
               {"first memory slices", Align::kLeft}});
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const mig::Profile& profile = model.profiles[i];
    const mig::ChangeSeconds& change = model.change_seconds[i];
    table.add(
        {profile.name + star(profile.confidence), std::to_string(profile.nvml_id),
         std::to_string(profile.compute_slices), std::to_string(profile.memory_slices),
         fmt::format("{:g}", profile.memory_gib),
         profile.sms == 0 ? "?" : std::to_string(profile.sms),
         std::to_string(profile.instances_max),
         fmt::format("{:g}{}", change.create, star(model.change_confidence)),
         fmt::format("{:g}{}", change.destroy, star(model.change_confidence)),
         fmt::format("{}", fmt::join(std::vector<int>(profile.starts.begin(), profile.starts.end()),
                                     " "))});
  }
  std::string text = "\n" + table.text(bold);
  for (const mig::PowerCurve& curve : model.power_curves) {
    text += fmt::format("power {}{}: {} W\n  ({})\n", curve.name, star(curve.confidence),
                        fmt::join(curve.watts, " "), curve.source);
  }
  return text;
}

}  // namespace

Outcome run_gpus(const Values& values, Console& console) {
  if (values.has_switch("live")) return run_live_gpus(values, console);
  if (values.has_switch("json")) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const GpuModel* model : mig::catalogue()) json.push_back(model_json(*model));
    print_json(console, json);
    return 0;
  }
  console.out.write(models_text(console.bold));
  if (values.has_switch("profiles")) {
    for (const GpuModel* model : mig::catalogue()) {
      console.out.write(profiles_text(*model, console.bold));
    }
  }
  return 0;
}

}  // namespace partita::cli
