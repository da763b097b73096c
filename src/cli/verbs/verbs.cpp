#include "cli/verbs/verbs.h"

#include <nlohmann/json.hpp>

#include "cli/flags/scenario.h"
#include "cli/text/help.h"

namespace partita::cli {
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
  return record_of(command.verb).run(command.values, console);
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

int print_either(const Values& values, Console& console, const nlohmann::ordered_json& json,
                 const std::string& text) {
  if (values.has_switch("json")) {
    print_json(console, json);
  } else {
    console.out.write(text);
  }
  return 0;
}

}  // namespace partita::cli
