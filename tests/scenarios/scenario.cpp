#include "scenarios/scenario.h"

#include <fmt/format.h>

#include <functional>

#include "base/text.h"
#include "policies/layout_list.h"
#include "policies/registry.h"

namespace partita::scenarios {
namespace {

using Words = std::vector<std::string_view>;
using Mode = decide::Preemption::Mode;

Words words_of(std::string_view line) {
  Words words;
  line = line.substr(0, line.find('#'));
  for (const std::string_view word : split(line, ' ')) {
    if (!trim(word).empty()) words.push_back(trim(word));
  }
  return words;
}

// Reads a scenario line by line; the first mistake is kept.
class Reader {
 public:
  Result<Scenario> read(std::string_view text);

 private:
  void line(const Words& words);
  bool setting(const Words& words);
  bool expectation(const Words& words);
  void preemption(std::string_view value);
  void job(const Words& words);
  bool follows_its_job(const Words& words);
  void not_resumable(const Words& words);
  void memory(const Words& words);
  void early_restart(const Words& words);
  void set_layouts();

  void mistake(const std::string& message) {
    if (error_.empty()) error_ = message;
  }
  Micros seconds(std::string_view text) {
    const auto value = parse_seconds(text);
    if (!value) mistake(fmt::format("'{}' is no number of seconds", text));
    return value.value_or(Micros{});
  }
  double number(std::string_view text) {
    const auto value = parse_double(text);
    if (!value) mistake(fmt::format("'{}' is no number", text));
    return value.value_or(0);
  }
  std::uint64_t count(std::string_view text) { return static_cast<std::uint64_t>(number(text)); }

  Scenario scenario_;
  std::uint32_t gpus_ = 1;
  std::vector<std::pair<Micros, std::string>> switches_;
  std::string error_;
};

void Reader::preemption(std::string_view value) {
  if (value == "free") {
    scenario_.run.preemption = {Mode::kFree, {}};
  } else if (value == "none") {
    scenario_.run.preemption = {Mode::kNone, {}};
  } else if (value.starts_with("cost=")) {
    scenario_.run.preemption = {Mode::kCost, seconds(value.substr(5))};
  } else if (value.starts_with("pays=")) {
    scenario_.run.preemption = {Mode::kPays, seconds(value.substr(5))};
  } else {
    mistake(fmt::format("preemption '{}' is not free, none, cost=SECONDS or pays=SECONDS", value));
  }
}

bool Reader::setting(const Words& words) {
  if (words.size() != 2) return false;
  const std::string_view value = words[1];
  const std::map<std::string_view, std::function<void()>> settings = {
      {"gpu", [&] { scenario_.run.gpu = value; }},
      {"gpus", [&] { gpus_ = static_cast<std::uint32_t>(count(value)); }},
      {"power", [&] { scenario_.run.power = value; }},
      {"scheduler", [&] { scenario_.run.scheduler = value; }},
      {"seed", [&] { scenario_.run.seed = count(value); }},
      {"preemption", [&] { preemption(value); }},
      {"repartition", [&] { scenario_.repartition = value; }},
      {"repartition-cost",
       [&] {
         if (value != "paper" && value != "measured") mistake("repartition-cost: paper, measured");
         scenario_.run.repartition_cost =
             value == "paper" ? sim::RepartitionCost::kPaper : sim::RepartitionCost::kMeasured;
       }},
      {"restart", [&] { scenario_.run.memory.restart = seconds(value); }},
      {"horizon", [&] { scenario_.run.horizon = seconds(value); }},
      {"et-a", [&] { scenario_.run.et_a = number(value); }},
  };
  const auto found = settings.find(words[0]);
  if (found == settings.end()) return false;
  found->second();
  return true;
}

bool Reader::expectation(const Words& words) {
  if (words[0] == "piece" && words.size() == 6) {
    scenario_.pieces.push_back({std::string(words[1]), count(words[2]), std::string(words[3]),
                                seconds(words[4]), seconds(words[5])});
  } else if (words[0] == "layout" && words.size() == 5) {
    scenario_.layouts.push_back(
        {count(words[1]), seconds(words[2]), seconds(words[3]), std::string(words[4])});
  } else if (words[0] == "late" && words.size() == 3) {
    scenario_.tardiness[std::string(words[1])] = seconds(words[2]);
  } else if (words[0] == "energy" && words.size() == 2) {
    scenario_.energy_j = number(words[1]);
  } else if ((words[0] == "preemptions" || words[0] == "repartitions" ||
              words[0] == "out-of-memory" || words[0] == "early-restarts") &&
             words.size() == 2) {
    scenario_.counts[std::string(words[0])] = count(words[1]);
  } else if (words[0] == "fails" && words.size() > 1) {
    scenario_.fails = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
  } else {
    return false;
  }
  return true;
}

void Reader::job(const Words& words) {
  workload::Job job;
  job.job_class = scenario_.run.trace.class_index("any");
  job.arrival = seconds(words[2]);
  job.deadline = seconds(words[3]);
  job.memory_gib = static_cast<float>(number(words[4]));
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    job.time[i] = words[5 + i] == "-" ? workload::kNoTime : seconds(words[5 + i]);
  }
  scenario_.run.trace.add(job, words[1]);
}

// Whether this line is about the job of the line before, as it has to be.
bool Reader::follows_its_job(const Words& words) {
  const workload::Trace& trace = scenario_.run.trace;
  const auto last = JobId{static_cast<std::uint32_t>(trace.jobs.size() - 1)};
  if (!trace.jobs.empty() && trace.id(last) == words[1]) return true;
  mistake(fmt::format("a {} line follows the line of its job", words[0]));
  return false;
}

void Reader::not_resumable(const Words& words) {
  if (follows_its_job(words)) scenario_.run.trace.jobs.back().resumable = false;
}

void Reader::memory(const Words& words) {
  if (!follows_its_job(words)) return;
  workload::Trace& trace = scenario_.run.trace;
  trace.memory_curves.resize(trace.jobs.size());
  trace.memory_curves.back() = {number(words[2]), number(words[3]), number(words[4]),
                                number(words[5])};
}

void Reader::early_restart(const Words& words) {
  const auto whole = [&](std::size_t i) { return static_cast<std::uint32_t>(count(words[i])); };
  scenario_.run.memory.early_restart = {whole(1), whole(2), whole(3), number(words[4]), whole(5)};
}

void Reader::line(const Words& words) {
  if (words[0] == "not-resumable" && words.size() == 2) return not_resumable(words);
  if (words[0] == "memory" && words.size() == 6) return memory(words);
  if (words[0] == "early-restart" && words.size() == 6) return early_restart(words);
  if (words[0] == "job" && words.size() == 10) return job(words);
  if (words[0] == "switch" && words.size() == 3) {
    switches_.emplace_back(seconds(words[1]), words[2]);
    return;
  }
  if (!setting(words) && !expectation(words)) {
    mistake(fmt::format("'{}' is not understood", fmt::join(words, " ")));
  }
}

// Once the GPU is known.
void Reader::set_layouts() {
  const Result<const mig::GpuModel*> model = mig::find_gpu(scenario_.run.gpu);
  if (!model) return mistake(model.error().message);
  scenario_.run.layouts.resize(gpus_);
  for (const auto& [time, text] : switches_) {
    const auto layouts = policies::parse_layout_list(**model, gpus_, text);
    if (!layouts) return mistake(layouts.error().message);
    scenario_.run.switches.push_back({time, *layouts});
  }
  constexpr std::string_view kStatic = "static:";
  if (scenario_.repartition == "none") scenario_.repartition = "static:1";
  if (scenario_.repartition.starts_with(kStatic)) {
    const auto layouts = policies::parse_layout_list(
        **model, gpus_, std::string_view(scenario_.repartition).substr(kStatic.size()));
    if (!layouts) return mistake(layouts.error().message);
    scenario_.run.layouts = *layouts;
    scenario_.repartition.clear();
  }
}

Result<Scenario> Reader::read(std::string_view text) {
  std::size_t number = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++number;
    const Words words = words_of(each);
    if (!words.empty()) line(words);
    if (!error_.empty()) return Error{fmt::format("line {}: {}", number, error_)};
  }
  set_layouts();
  if (!error_.empty()) return Error{error_};
  workload::sort_by_arrival(scenario_.run.trace);
  return scenario_;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text) {
  return Reader().read(text);
}

Result<sim::RunResult> run(const Scenario& scenario) {
  if (scenario.repartition.empty()) return cases::run_engine(scenario.run);
  const auto scheduler = policies::make_scheduler(scenario.run.scheduler, scenario.run.seed);
  if (!scheduler) return scheduler.error();
  const sim::RunOptions options = cases::options_of(scenario.run);
  const auto repartitioner =
      policies::make_repartitioner(scenario.repartition, *options.model, options.gpus);
  if (!repartitioner) return repartitioner.error();
  return sim::simulate(scenario.run.trace, options, **scheduler, **repartitioner);
}

}  // namespace partita::scenarios
