#include "cli/flags/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "base/text.h"
#include "cli/flags/name_lists.h"
#include "workload/csv.h"

namespace partita::cli {
namespace {

// "; did you mean 'x'?" or nothing.
std::string suggestion(std::string_view typed, std::span<const std::string> names) {
  const std::string nearest = nearest_name(typed, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

Error unknown_verb(std::string_view typed) {
  const std::vector<std::string> names = verb_names();
  return {fmt::format("unknown verb {}{} known: {}", workload::shown(typed),
                      suggestion(typed, names).empty() ? ";" : suggestion(typed, names),
                      fmt::join(names, ", "))};
}

std::vector<std::string> flag_names_of(Verb verb) {
  std::vector<std::string> names;
  for (const FlagRecord& flag : flag_records()) {
    if (flag.in(verb) && !flag.positional()) names.push_back(shown_name(flag));
  }
  return names;
}

Error unknown_word(Verb verb, std::string_view typed) {
  const std::string_view verb_name = record_of(verb).name;
  if (!typed.starts_with('-') || typed == "-") {
    return {
        fmt::format("{} has no place for the argument {}; `partita {} --help` shows what it "
                    "takes",
                    verb_name, workload::shown(typed), verb_name)};
  }
  const std::vector<std::string> names = flag_names_of(verb);
  const std::string_view bare = typed.substr(0, typed.find('='));
  const std::string near = suggestion(bare, names);
  return {fmt::format("unknown flag {} of {}{} known: {}", workload::shown(typed), verb_name,
                      near.empty() ? ";" : near, fmt::join(names, ", "))};
}

// One verb's flags in CLI11, every value as text: the records check them afterwards, so that a flag
// and a scenario key are refused with the same sentence.
class Parser {
 public:
  explicit Parser(Verb verb) : verb_(verb) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const FlagRecord& flag : flag_records()) {
      if (flag.in(verb)) add(flag);
    }
  }

  Result<Values> parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ArgumentMismatch& mismatch) {
      const std::string message = mismatch.what();
      return Error{fmt::format("{} needs a value", message.substr(0, message.find(':')))};
    } catch (const CLI::ConversionError& error) {
      return Error{fmt::format("{}: a switch takes no value", error.what())};
    } catch (const CLI::ParseError& error) {
      return Error{error.what()};
    }
    const std::vector<std::string> left = app_.remaining();
    if (!left.empty()) return unknown_word(verb_, left.front());
    return collect();
  }

 private:
  struct Slot {
    const FlagRecord* flag;
    CLI::Option* option;
    std::string text;
    bool on = false;
  };

  void add(const FlagRecord& flag) {
    Slot& slot = slots_.emplace_back(Slot{&flag, nullptr, {}, false});
    const std::string letter = flag.letter.empty() ? "" : fmt::format("-{},", flag.letter);
    const std::string name = flag.name == "help" ? "-h,--help" : letter + shown_name(flag);
    slot.option =
        flag.is_switch() ? app_.add_flag(name, slot.on) : app_.add_option(name, slot.text);
    slot.option->multi_option_policy(flag.repeats ? CLI::MultiOptionPolicy::Join
                                                  : CLI::MultiOptionPolicy::TakeLast);
    if (flag.positional() && flag.repeats) {
      slot.option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
    }
  }

  Result<Values> collect() const {
    Values values;
    for (const Slot& slot : slots_) {
      const std::string place = shown_name(*slot.flag);
      if (slot.option->count() == 0) continue;
      if (slot.option->count() > 1 && !slot.flag->repeats)
        return Error{fmt::format("{} is given twice", place)};
      const std::string text = slot.flag->is_switch() ? (slot.on ? "true" : "false") : slot.text;
      const Status good = values.set(*slot.flag, {text, place, true});
      if (!good) return good.error();
    }
    return values;
  }

  Verb verb_;
  CLI::App app_;
  std::deque<Slot> slots_;  // CLI11 keeps pointers into it
};

// How many words are ours: what follows -- is a command of the user's own, and so is what follows
// the name of a script, as sbatch has it.
std::size_t own_words(Verb verb, std::span<const std::string> words) {
  if (verb == Verb::kRun) {
    const auto dashes = std::ranges::find(words, "--");
    return static_cast<std::size_t>(dashes - words.begin());
  }
  if (verb != Verb::kSubmit) return words.size();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return i;
    if (!word.starts_with('-') || word == "-") return i + 1;
    const bool alone = word.find('=') != std::string::npos;
    const auto flag = std::ranges::find_if(flag_records(), [&](const FlagRecord& each) {
      return each.in(verb) && !each.positional() && shown_name(each) == word;
    });
    if (!alone && flag != flag_records().end() && !flag->is_switch()) ++i;
  }
  return words.size();
}

}  // namespace

Result<Command> parse_command_line(std::span<const std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") return Command{Verb::kHelp, {}};
  if (words[0] == "--version") return Command{Verb::kVersion, {}};
  const VerbRecord* verb = find_verb(words[0]);
  if (verb == nullptr) return unknown_verb(words[0]);
  const std::size_t own = own_words(verb->verb, words);
  Result<Values> values = parse_flags(verb->verb, {words.begin() + 1, words.begin() + own});
  if (!values) return values.error();
  auto command = words.begin() + own;
  const bool dashes = command != words.end() && *command == "--";
  values->command.assign(dashes ? command + 1 : command, words.end());
  return Command{verb->verb, *std::move(values)};
}

Result<Values> parse_flags(Verb verb, std::vector<std::string> words) {
  return Parser(verb).parse(std::move(words));
}

}  // namespace partita::cli
