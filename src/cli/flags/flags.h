// Flag records: every flag and verb of `partita` as data. The parser, --help, scenario files, shell
// completion, the man page and docs/reference/cli.md are all made from these tables.
#pragma once

#include <any>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace partita::cli {

struct Console;
class Values;

// The exit status: 0 done, 1 the answer is no. An error is bad input, status 2.
using Outcome = Result<int>;

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
  kHold,
  kRelease,
  kRequeue,
  kLogs,
  kWait,
  kTop,
  kShare,
  kDrain,
  kResume,
  kReplay,
  kRun,
  kHistory,
  kQuota,
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
  Outcome (*run)(const Values& values, Console& console);
  std::string_view summary;   // one line
  std::string_view details;   // sentences for --help and the man page
  std::string_view examples;  // whole command lines, one a line
};

enum class ValueKind : std::uint8_t {
  kSwitch,   // given or not
  kText,     // as `parse` says
  kName,     // one of choices()
  kNumber,   // finite, low to high
  kCount,    // whole, low to high
  kSeconds,  // to the microsecond, low to high
  kInput,    // a file that is read
  kOutput,   // a file that is written
};

// What the text of a value means: a bool for a switch, a double, an std::uint64_t or Micros for the
// numbers, else what the record's parser makes of it; nothing where the text itself is meant.
struct ParsedValue {
  std::any meaning = {};

  // REQUIRES: it is a T.
  template <typename T>
  const T& as() const {
    const T* typed = std::any_cast<T>(&meaning);
    CHECK(typed != nullptr);
    return *typed;
  }
};

// A function that gives a Result, or an optional where the record's choices are all it knows, as
// the parser of a record.
template <auto kParse>
Result<ParsedValue> parsed_by(std::string_view text) {
  auto value = kParse(text);
  if constexpr (requires { value.error(); }) {
    if (!value) return value.error();
  }
  CHECK(static_cast<bool>(value));
  return ParsedValue{*std::move(value)};
}

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
  Result<ParsedValue> (*parse)(std::string_view text) = nullptr;
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
Result<ParsedValue> parse_value(const FlagRecord& flag, std::string_view text);

// The name nearest to `typed` by letters to change, or empty when none is near.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

}  // namespace partita::cli
