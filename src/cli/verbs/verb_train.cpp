#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/flags/day_sources.h"
#include "cli/flags/run_settings.h"
#include "cli/flags/value_parsers.h"
#include "cli/flags/version.h"
#include "cli/output/output_file.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/verbs/verbs.h"
#include "experiment/learning_days.h"
#include "learn/trainer.h"
#include "workload/option_checks.h"

namespace partita::cli {
namespace {

// What was typed or set by the scenario, as a command line that trains the same model.
std::string command_of(const Values& values) {
  std::string command = fmt::format("partita train {}", values.text("SYSTEM"));
  for (const auto& [name, value] : values.all()) {
    const FlagRecord* flag = find_flag(name);
    if (flag->positional() || !value.typed || name == "checkpoint" || name == "log" ||
        name == "report" || name == "threads") {
      continue;
    }
    // Where a file lay on this machine is not what the model depends on.
    const bool file = flag->kind == ValueKind::kOutput || flag->kind == ValueKind::kInput;
    const std::string shown =
        file ? std::filesystem::path(value.text).filename().string() : value.text;
    command +=
        flag->is_switch() ? fmt::format(" --{}", name) : fmt::format(" --{} '{}'", name, shown);
  }
  return command;
}

learn::TrainOptions train_options(const Values& values, const RunSettings& settings) {
  learn::TrainOptions options;
  options.system = values.as<const learn::System*>("SYSTEM");
  options.run = settings.options;
  options.scheduler = settings.policy.scheduler;
  options.seed = settings.policy.seed;
  options.change_cost_min = values.number("change-cost");
  options.late_cost_min = values.number("late-cost");
  options.threads = values.threads();
  options.repartition = settings.policy.repartition;
  options.reward = values.as<learn::PlaceReward>("reward");
  if (values.given("epochs") != nullptr) options.epochs = static_cast<int>(values.count("epochs"));
  if (values.given("hidden") != nullptr) options.hidden = values.as<std::vector<int>>("hidden");
  options.command = command_of(values);
  options.commit = kCommit;
  if (values.given("menu") != nullptr) options.menu = values.text("menu");
  options.rest = values.seconds("rest");
  if (values.given("from") != nullptr) options.from = values.text("from");
  if (values.given("without") != nullptr) options.without = values.text("without");
  if (values.given("steps") != nullptr) options.steps = values.count("steps");
  if (values.given("evolution") != nullptr) {
    options.evolution_steps = values.count("evolution");
    options.evolves = options.evolution_steps > 0;
  }
  return options;
}

std::vector<std::string> rates_of(const Values& values) {
  if (values.given("rates") == nullptr) return {};
  return values.as<std::vector<std::string>>("rates");
}

Status set_energy_weights(const Values& values, learn::TrainOptions& options) {
  const std::string text = values.text("energy-weight");
  const std::size_t count = split(text, ',').size();
  const std::size_t loads = std::max<std::size_t>(1, rates_of(values).size());
  if (count != 1 && count != loads) {
    return Error{
        fmt::format("--energy-weight: '{}' has {} weights; wanted one, or one for each of "
                    "the {} of --rates",
                    text, count, loads)};
  }
  auto weights = parse_numbers(text, count, workload::kRateMax);
  if (!weights) return values.wrong("energy-weight", weights.error());
  options.energy_weights = *std::move(weights);
  return {};
}

// Where the days come from: one source, or one for each of --rates.
using Sources = std::vector<experiment::DaySource>;

Result<Sources> day_sources(const Values& values, const Console& console) {
  Sources sources;
  const std::vector<std::string> rates = rates_of(values);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, rates.size()); ++i) {
    Values of_rate = values;
    if (!rates.empty()) {
      const Status set = of_rate.set(*find_flag("rate"), {rates[i], "--rates", true});
      if (!set) return set.error();
    }
    Result<experiment::DaySource> source = day_source(of_rate, console);
    if (!source) return source.error();
    sources.push_back(*std::move(source));
  }
  return sources;
}

// The checkpoint that is there, if any.
Result<std::optional<nn::TensorFile>> found_checkpoint(const Values& values) {
  std::optional<nn::TensorFile> none;
  if (values.given("checkpoint") == nullptr) return none;
  const std::string path = values.text("checkpoint");
  if (!std::filesystem::exists(path)) return none;
  const auto bytes = nn::read_bytes(path);
  if (!bytes) return values.wrong("checkpoint", bytes.error());
  auto file = nn::parse_tensor_file(*bytes);
  if (!file) return values.wrong("checkpoint", file.error());
  return std::optional(*std::move(file));
}

nlohmann::ordered_json trained_json(const learn::Trained& trained, const std::string& path) {
  return {{"model", path},
          {"system", trained.model.facts.more.at("system")},
          {"validation_et", trained.validation_et},
          {"decisions", trained.decisions},
          {"stopped_early", trained.stopped_early},
          {"parameters", trained.model.policy.parameters().size()},
          {"command", trained.model.facts.command}};
}

// With --report, the page of the learning curve.
Status write_page(const Values& values, const std::string& log_text) {
  if (values.given("report") == nullptr) return {};
  const auto page = page_of_training(log_text, fmt::format("Training {}", values.text("SYSTEM")),
                                     command_text(Verb::kTrain, values));
  if (!page) return page.error();
  return write_output(values.text("report"), page->text);
}

Outcome train_and_write(const Values& values, learn::TrainOptions& options, Console& console) {
  std::unique_ptr<OutputFile> log;
  if (values.given("log") != nullptr) {
    auto opened = OutputFile::open(values.text("log"));
    if (!opened) return opened.error();
    log = *std::move(opened);
  }
  std::string log_text;
  options.log = [&](const std::string& line) {
    log_text += line + "\n";
    if (!log) return;
    log->writer().write(line + "\n");
    log->writer().flush();  // for who watches; a failure is kept and told by commit()
  };
  if (values.given("checkpoint") != nullptr) {
    options.checkpoint = [&](const nn::TensorFile& file) {
      return nn::write_bytes(values.text("checkpoint"), nn::format_tensor_file(file));
    };
  }
  ProgressBar bar(console.shows_progress, "training");
  options.progress = [&bar](double part) { bar.at(part); };
  const Result<learn::Trained> trained = learn::train(options);
  if (!trained) return trained.error();
  const std::string path = values.text("out");
  if (const Status written = nn::write_bytes(path, nn::format_model(trained->model)); !written) {
    return written.error();
  }
  if (log) {
    if (const Status kept = log->commit(); !kept) return kept.error();
  }
  if (const Status shown = write_page(values, log_text); !shown) return shown.error();
  if (values.has_switch("json")) {
    print_json(console, trained_json(*trained, path));
  } else if (options.record != nullptr) {
    console.out.write(
        fmt::format("{}: what it saw on {} training days is recorded\n", path, learn::kRecordDays));
  } else {
    const bool places = options.system->decides == learn::Decides::kPlacements;
    console.out.write(
        fmt::format("{}: ET {:.4f} on {} validation days after {} {}\n--{} "
                    "learned:{}\n",
                    path, trained->validation_et, options.validation.size(), trained->decisions,
                    trained->unit, places ? "scheduler" : "repartition", path));
  }
  return 0;
}

}  // namespace

Outcome run_train(const Values& values, Console& console) {
  if (values.given("SYSTEM") == nullptr) {
    return Error{"train needs the name of a system; `partita train --help` lists them"};
  }
  if (values.given("out") == nullptr) return Error{"train needs --out, the model file to write"};
  if (const Status page = check_report(values); !page) return page.error();
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  auto sources = day_sources(values, console);
  if (!sources) return sources.error();
  settings->options.horizon = horizon_of(values, sources->front().window);
  learn::TrainOptions options = train_options(values, *settings);
  if (const Status weights = set_energy_weights(values, options); !weights) return weights.error();
  auto days = experiment::learning_days(*std::move(sources), values.count("validation-days"));
  if (!days) return days.error();
  options.validation = std::move(days->validation);
  options.days = std::move(days->training);
  const auto checkpoint = found_checkpoint(values);
  if (!checkpoint) return checkpoint.error();
  if (*checkpoint) options.resume = &**checkpoint;
  if (values.given("record") == nullptr) return train_and_write(values, options, console);
  const auto model = nn::read_model(values.text("record"));
  if (!model) return model.error();
  options.record = &*model;
  return train_and_write(values, options, console);
}

}  // namespace partita::cli
