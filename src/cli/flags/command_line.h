// The command line: words in, a verb and its values out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags/flags.h"
#include "cli/flags/values.h"

namespace partita::cli {

struct Command {
  Verb verb = Verb::kHelp;
  Values values;
};

// `words` are the arguments without the name of the program. No words, --help and --version are
// the verbs help and version.
// In front of a command of the user's own (submit, run) stand only our words.
Result<Command> parse_command_line(std::span<const std::string> words);

// The words as flags of the verb, without a command of the user's own.
Result<Values> parse_flags(Verb verb, std::vector<std::string> words);

}  // namespace partita::cli
