#include "cli/verbs/verbs.h"

#include <nlohmann/json.hpp>

#include "cli/flags/scenario.h"
#include "cli/text/help.h"

namespace partita::cli {
namespace {

Outcome dispatch(const Command& command, Console& console) {
  const Values& values = command.values;
  switch (command.verb) {
    case Verb::kGpus:
      return run_gpus(values, console);
    case Verb::kLayout:
      return run_layout(values, console);
    case Verb::kLayouts:
      return run_layouts(values, console);
    case Verb::kGenerate:
      return run_generate(values, console);
    case Verb::kConvert:
      return run_convert(values, console);
    case Verb::kSimulate:
      return run_simulate(values, console);
    case Verb::kCompare:
      return run_compare(values, console);
    case Verb::kSize:
      return run_size(values, console);
    case Verb::kBound:
      return run_bound(values, console);
    case Verb::kAdvise:
      return run_advise(values, console);
    case Verb::kTune:
      return run_tune(values, console);
    case Verb::kExperiment:
      return run_experiment(values, console);
    case Verb::kReport:
      return run_report(values, console);
    case Verb::kTrain:
      return run_train(values, console);
    case Verb::kEvaluate:
      return run_evaluate(values, console);
    case Verb::kDistill:
      return run_distill(values, console);
    case Verb::kServe:
      return run_serve(values, console);
    case Verb::kToken:
      return run_token(values, console);
    case Verb::kSubmit:
      return run_submit(values, console);
    case Verb::kQueue:
      return run_queue(values, console);
    case Verb::kJob:
      return run_job(values, console);
    case Verb::kCancel:
      return run_cancel(values, console);
    case Verb::kLogs:
      return run_logs(values, console);
    case Verb::kWait:
      return run_wait(values, console);
    case Verb::kTop:
      return run_top(values, console);
    case Verb::kReplay:
      return run_replay(values, console);
    case Verb::kPolicies:
      return run_policies(values, console);
    case Verb::kScenarios:
      return run_scenarios(values, console);
    case Verb::kCompletion:
      return run_completion(values, console);
    case Verb::kMan:
      return run_man(values, console);
    case Verb::kHelp:
      return run_help(values, console);
    case Verb::kVersion:
      return run_version(values, console);
  }
  return 0;
}

}  // namespace

Outcome run_command(Command command, Console& console) {
  if (command.values.has_switch("help")) {
    console.out.write(verb_help(command.verb));
    return 0;
  }
  const Value* scenario = command.values.given("scenario");
  if (scenario != nullptr) {
    const Status loaded = load_scenario(scenario->text, command.values);
    if (!loaded) return loaded.error();
  }
  return dispatch(command, console);
}

int run_program(std::span<const std::string> words, Console& console) {
  constexpr int kBadInput = 2;
  const Result<Command> command = parse_command_line(words);
  const Outcome outcome = command ? run_command(*command, console) : Outcome(command.error());
  const bool flushed = console.out.flush();
  if (console.out.broken_pipe()) return 0;
  if (!outcome) {
    complain(outcome.error().message);
    return kBadInput;
  }
  if (!flushed) {
    complain(console.out.status().error().message);
    return kBadInput;
  }
  return *outcome;
}

void print_json(Console& console, const nlohmann::ordered_json& json) {
  // Bytes that are no UTF-8 can stand in the names of files and jobs.
  console.out.write(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                    "\n");
}

}  // namespace partita::cli
