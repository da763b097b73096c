// Help texts, made from the flag and verb records.
#pragma once

#include <string>

#include "cli/flags/flags.h"

namespace partita::cli {

std::string program_help();
std::string verb_help(Verb verb);
// docs/reference/cli.md.
std::string markdown_help();

// The sentence of the record with its default, range and scenario key.
std::string flag_details(const FlagRecord& flag);
// "--gpus N", "SHELL".
std::string flag_usage(const FlagRecord& flag);
// The flags of a verb, in the order of the table.
std::vector<const FlagRecord*> flags_of(Verb verb);
// The same with what only some jobs have under titles of their own; the first has none.
struct FlagGroup {
  std::string title;
  std::vector<const FlagRecord*> flags;
};
std::vector<FlagGroup> flag_groups(Verb verb);
// With a capital at the front.
std::string sentence(std::string_view text);
// "partita scenarios [ACTION] [NAME] [flags]".
std::string usage_line(Verb verb);

// Lines of at most `width` columns, each after `indent` blanks but the first.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace partita::cli
