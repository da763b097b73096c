// Flag records: every flag and verb of `partita` as data. The parser, --help, scenario files, shell
// completion, the man page and docs/reference/cli.md are all made from these tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace partita::cli {

// In the order `partita --help` lists them.
enum class Verb : std::uint8_t {
  kGpus,
  kLayouts,
  kLayout,
  kGenerate,
  kConvert,
  kSimulate,
  kCompare,
  kSize,
  kBound,
  kAdvise,
  kTune,
  kExperiment,
  kReport,
  kTrain,
  kEvaluate,
  kDistill,
  kServe,
  kToken,
  kSubmit,
  kQueue,
  kJob,
  kCancel,
  kLogs,
  kWait,
  kTop,
  kReplay,
  kPolicies,
  kScenarios,
  kCompletion,
  kMan,
  kHelp,
  kVersion,
};

using VerbSet = std::uint64_t;
constexpr VerbSet set_of(Verb verb) {
  return VerbSet{1} << static_cast<unsigned>(verb);
}
template <typename... More>
constexpr VerbSet set_of(Verb first, More... more) {
  return set_of(first) | set_of(more...);
}

struct VerbRecord {
  Verb verb;
  std::string_view name;
  std::string_view summary;   // one line
  std::string_view details;   // sentences for --help and the man page
  std::string_view examples;  // whole command lines, one a line
};

enum class ValueKind : std::uint8_t {
  kSwitch,   // given or not
  kText,     // as `check` says
  kName,     // one of choices()
  kNumber,   // finite, low to high
  kCount,    // whole, low to high
  kSeconds,  // to the microsecond, low to high
  kInput,    // a file that is read
  kOutput,   // a file that is written
};

struct FlagRecord {
  std::string_view name;  // without the dashes; a positional argument in capitals
  ValueKind kind;
  std::string_view metavar = {};       // what stands for the value in --help; empty for switches
  std::string_view default_text = {};  // empty: none
  double low = 0;
  double high = 0;
  std::string_view unit = {};
  std::string_view sentence = {};
  VerbSet verbs = 0;
  std::string_view section = {};   // of scenario files; empty: not in them
  std::string_view only_for = {};  // origins of jobs it is for, separated by blanks; empty: all
  std::vector<std::string> (*choices)() = nullptr;  // for completion; checked when kName
  Status (*check)(std::string_view text) = nullptr;
  // What is typed, where another verb has a flag of that name with another meaning.
  std::string_view typed = {};
  bool repeats = false;  // may be given several times; the values stand on lines of their own
  std::string_view letter = {};  // a short form: "f" for -f

  bool is_switch() const { return kind == ValueKind::kSwitch; }
  bool positional() const { return name.front() >= 'A' && name.front() <= 'Z'; }
  bool in(Verb verb) const { return (verbs & set_of(verb)) != 0; }
  bool has_range() const { return low < high; }
};

std::span<const VerbRecord> verb_records();
std::span<const FlagRecord> flag_records();
// Among flag_records(): those of the daemon and its clients, and those of advice, searches and
// experiments.
std::span<const FlagRecord> live_flag_records();
std::span<const FlagRecord> study_flag_records();

const VerbRecord& record_of(Verb verb);
// Null when there is none.
const VerbRecord* find_verb(std::string_view name);
const FlagRecord* find_flag(std::string_view name);

// "--gpus", or "SHELL" for a positional argument.
std::string shown_name(const FlagRecord& flag);
// "cluster.gpus"; empty for flags that scenario files do not have.
std::string scenario_key(const FlagRecord& flag);

// "a whole number, 1 to 1,000,000": what a value must be.
std::string wanted(const FlagRecord& flag);
Status check_value(const FlagRecord& flag, std::string_view text);

// The name nearest to `typed` by letters to change, or empty when none is near.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

}  // namespace partita::cli
