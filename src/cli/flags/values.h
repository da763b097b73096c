// Values: what the flags of one command are set to, and where each setting came from.
//
// The command line is laid over the scenario file, and both over the defaults of the records.
// Everything in here is parsed, once, when it is set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cli/flags/flags.h"
#include "sim/run.h"

namespace partita::cli {

struct Value {
  std::string text;
  std::string place;        // for messages: "--gpus", "mine.toml line 3, cluster.gpus"
  bool typed = false;       // on the command line
  ParsedValue parsed = {};  // by Values::set
};

// One of [[policies]] in a scenario file: what an experiment compares. Empty: as [policy] says.
struct PolicyEntry {
  std::string name;
  std::string scheduler;
  std::string repartition;
  std::optional<decide::Preemption> preemption;
  std::optional<sim::RepartitionCost> repartition_cost;
  std::string place;  // for messages: "mine.toml line 20"
};

class Values {
 public:
  // Parses the text as the record says. A value that is there already stays when it was typed and
  // this one was not.
  Status set(const FlagRecord& flag, Value value);

  // The names below are those of the records. REQUIRES of all: the record exists.
  const Value* given(std::string_view name) const;  // null when only the default stands
  bool is_set(std::string_view name) const;         // given or with a default
  bool has_switch(std::string_view name) const;

  // REQUIRES: is_set(name), and that the record gives this type.
  std::string text(std::string_view name) const;
  template <typename T>
  const T& as(std::string_view name) const {
    return parsed(name).as<T>();
  }
  double number(std::string_view name) const { return as<double>(name); }
  std::uint64_t count(std::string_view name) const { return as<std::uint64_t>(name); }
  Micros seconds(std::string_view name) const { return as<Micros>(name); }
  std::size_t threads() const;  // --threads, or one a processor

  // Where the value was set, for messages; the name of the flag where the default stands.
  std::string place(std::string_view name) const;

  // The error of a check made later than set: "--power: unknown power curve ...".
  Error wrong(std::string_view name, const Error& why) const;

  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  std::vector<PolicyEntry> policies;
  std::vector<std::string> command;  // what follows -- of submit

 private:
  const ParsedValue& parsed(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace partita::cli
