#include "cli/flags/batch_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "cli/flags/command_line.h"
#include "cli/flags/live_values.h"

namespace partita::cli {
namespace {

constexpr std::string_view kMark = "#PARTITA";
// About the caller, not about the job.
constexpr std::array<std::string_view, 5> kNotOfScripts{"socket", "token-file", "json", "help",
                                                        "SCRIPT"};

std::string_view name_in(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

Status set_from_line(std::string_view rest, const std::string& place, Values& values) {
  const auto wrong = [&](const Error& why) {
    return Error{fmt::format("{}: {}", place, why.message)};
  };
  const Result<std::vector<std::string>> words = split_command(rest);
  if (!words) return wrong(words.error());
  const Result<Values> given = parse_flags(Verb::kSubmit, *words);
  if (!given) return wrong(given.error());
  for (const auto& [name, value] : given->all()) {
    const FlagRecord& flag = *find_flag(name);
    if (std::ranges::find(kNotOfScripts, name) != kNotOfScripts.end()) {
      return wrong(Error{fmt::format("{} is not a flag of a job", shown_name(flag))});
    }
    const Value* before = values.given(name);
    const bool again = before != nullptr && !before->typed;
    if (again && !flag.repeats) {
      return wrong(
          Error{fmt::format("{} is given twice; first at {}", shown_name(flag), before->place)});
    }
    const std::string text = again ? before->text + "\n" + value.text : value.text;
    const Status set = values.set(flag, {text, place + ", " + shown_name(flag)});
    if (!set) return set;
  }
  return {};
}

}  // namespace

Status set_script_flags(std::string_view script, const std::string& shown_name, Values& values) {
  std::size_t number = 0;
  for (const std::string_view line : split(script, '\n')) {
    ++number;
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (!text.starts_with('#')) return {};
    if (!line.starts_with(kMark)) continue;
    const std::string_view rest = line.substr(kMark.size());
    if (trim(rest).empty() || (rest.front() != ' ' && rest.front() != '\t')) continue;
    const Status set = set_from_line(rest, fmt::format("{} line {}", shown_name, number), values);
    if (!set) return set;
  }
  return {};
}

std::size_t first_sbatch_line(std::string_view script) {
  std::size_t number = 0;
  for (const std::string_view line : split(script, '\n')) {
    ++number;
    if (line.starts_with("#SBATCH")) return number;
    const std::string_view text = trim(line);
    if (!text.empty() && !text.starts_with('#')) return 0;
  }
  return 0;
}

Status check_script(std::string_view script, const std::string& shown_name) {
  const std::string_view first = script.substr(0, script.find('\n'));
  if (!first.starts_with("#!") || trim(first.substr(2)).empty()) {
    return Error{fmt::format(
        "{} line 1: found '{}', wanted #! and the program that reads the script, as #!/bin/bash",
        shown_name, first.substr(0, 40))};
  }
  if (first.ends_with('\r')) {
    return Error{
        fmt::format("{} line 1: it ends with a carriage return, as DOS writes lines; "
                    "wanted line feeds alone",
                    shown_name)};
  }
  return {};
}

Result<Exported> parse_export(std::string_view text) {
  Exported exported;
  const auto parts = split(text, ',');
  for (const std::string_view part : parts) {
    const std::string_view name = name_in(part);
    if (name.empty() || (part == "NONE" && parts.size() > 1)) {
      return Error{
          fmt::format("found '{}', wanted ALL, NONE, or NAME and NAME=VALUE with commas", text)};
    }
    if (part == "ALL") {
      exported.all = true;
    } else if (part.size() > name.size()) {
      exported.values.emplace_back(part);
    } else if (part != "NONE") {
      exported.names.emplace_back(part);
    }
  }
  return exported;
}

std::vector<std::string> exported_variables(const Exported& exported,
                                            const std::vector<std::string>& environment) {
  std::map<std::string, std::string, std::less<>> chosen;
  for (const std::string& variable : environment) {
    const std::string_view name = name_in(variable);
    const bool ours = name.starts_with("PARTITA_") || name == "CUDA_VISIBLE_DEVICES" ||
                      name == "NVIDIA_VISIBLE_DEVICES";
    const bool named = std::ranges::find(exported.names, name) != exported.names.end();
    const bool whole = !name.empty() && name.size() < variable.size();
    if (whole && !ours && (exported.all || named)) chosen[std::string(name)] = variable;
  }
  for (const std::string& variable : exported.values) {
    chosen[std::string(name_in(variable))] = variable;
  }
  std::vector<std::string> variables;
  for (auto& [name, variable] : chosen) variables.push_back(std::move(variable));
  return variables;
}

}  // namespace partita::cli
