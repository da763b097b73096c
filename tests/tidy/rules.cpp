#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.h"

namespace partita::tidy {
namespace {

// Columns as an editor shows them: bytes of UTF-8 that continue a character do not count.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// ---- banned calls

enum class Form {
  kCall,         // name(
  kCallOfNoArg,  // name(nullptr), name(NULL), name(0)
  kStdPrefix,    // std::name...
  kStdSuffix,    // std::...name
  kPhrase,       // the words themselves
};

struct Ban {
  Form form;
  std::string_view name;
  std::string_view instead;
  std::vector<std::string_view> only_under = {};  // empty: everywhere
  std::vector<std::string_view> except_under = {};
};

const std::vector<Ban>& bans() {
  static const std::string_view rng = "draw from base/rng.h, whose stream is ours";
  static const std::string_view child = "execve with an argument array, never a shell";
  static const std::string_view text = "use std::string or fmt::format";
  static const std::string_view number = "use parse_int or parse_double of base/text.h";
  static const std::string_view clock = "take the time as an argument";
  static const std::vector<std::string_view> timeless{
      "src/workload/", "src/mig/", "src/cluster/", "src/decide/", "src/policies/", "src/sim/"};
  static const std::vector<Ban> table{
      {Form::kCall, "rand", rng},
      {Form::kCall, "srand", rng},
      {Form::kStdPrefix, "random_device", "take a seed as an argument"},
      {Form::kStdSuffix, "_distribution", rng},
      {Form::kCall, "system", child},
      {Form::kCall, "popen", child},
      {Form::kStdPrefix, "regex", "use split and trim of base/text.h"},
      {Form::kCall, "strcpy", text},
      {Form::kCall, "strcat", text},
      {Form::kCall, "sprintf", text},
      {Form::kCall, "vsprintf", text},
      {Form::kCall, "atoi", number},
      {Form::kCall, "atol", number},
      {Form::kCall, "atof", number},
      {Form::kCallOfNoArg, "time", clock},
      {Form::kPhrase, "system_clock", clock, timeless},
      {Form::kPhrase, "steady_clock", clock, timeless},
      {Form::kPhrase, "high_resolution_clock", clock, timeless},
      {Form::kPhrase, "using namespace std", "write std:: where it is meant"},
      // What is shown is no row.
      {Form::kPhrase,
       "store",
       "show a view of control/views/views.h",
       {"src/api/"},
       {"src/api/api_fuzz.cpp", "src/api/service_test.cpp", "src/api/service_fixture.h",
        "src/api/metrics_test.cpp"}},
      // A test or benchmark is its own main(), so it may ask.
      {Form::kCall,
       "getenv",
       "read it in main() and hand it in",
       {"src/"},
       {"src/cli/", "src/daemon/"}},
  };
  return table;
}

bool applies_to(const Ban& ban, std::string_view path) {
  const auto holds = [&](std::string_view folder) { return path.starts_with(folder); };
  if (std::ranges::any_of(ban.except_under, holds)) return false;
  return ban.only_under.empty() || std::ranges::any_of(ban.only_under, holds);
}

// A free function or one of std: not x.rand(), x->rand() or ours::rand().
bool names_the_library(std::string_view code, std::size_t at) {
  const std::string_view before = code.substr(0, at);
  if (before.ends_with('.') || before.ends_with("->")) return false;
  if (!before.ends_with("::")) return true;
  const std::string_view scope = before.substr(0, before.size() - 2);
  return scope.ends_with("std") || scope.empty() || !is_word_char(scope.back());
}

// `double rand(int)` declares a function of that name; `return rand(` calls one.
bool is_declaration(std::string_view code, std::size_t at) {
  const std::string_view before = trim(code.substr(0, at));
  if (before.empty() || before.size() == at || !is_word_char(before.back())) return false;
  return !before.ends_with("return") && !before.ends_with("else") && !before.ends_with("do");
}

bool matches_call(std::string_view code, std::size_t at, const Ban& ban) {
  const std::size_t end = at + ban.name.size();
  if (end < code.size() && is_word_char(code[end])) return false;
  const std::string_view rest = trim(code.substr(end));
  if (!rest.starts_with('(') || !names_the_library(code, at) || is_declaration(code, at)) {
    return false;
  }
  if (ban.form == Form::kCall) return true;
  const std::string_view argument = trim(rest.substr(1, rest.find(')') - 1));
  return argument == "nullptr" || argument == "NULL" || argument == "0";
}

bool matches(std::string_view code, std::size_t at, const Ban& ban) {
  const std::size_t end = at + ban.name.size();
  const bool begins_word = at == 0 || !is_word_char(code[at - 1]);
  const bool ends_word = end >= code.size() || !is_word_char(code[end]);
  switch (ban.form) {
    case Form::kCall:
    case Form::kCallOfNoArg:
      return begins_word && matches_call(code, at, ban);
    case Form::kStdPrefix:
      return code.substr(0, at).ends_with("std::");
    case Form::kStdSuffix: {
      std::size_t begin = at;
      while (begin > 0 && is_word_char(code[begin - 1])) --begin;
      return ends_word && code.substr(0, begin).ends_with("std::");
    }
    case Form::kPhrase:
      return begins_word && ends_word;
  }
  return false;
}

// ---- modules

// What a module may include besides itself: whole modules, or single public headers.
struct Arrows {
  std::vector<std::string> modules;
  std::vector<std::string> headers = {};
};

// The arrows of docs/internals/architecture.md. daemon and cli wire everything together.
const std::map<std::string, Arrows, std::less<>>& arrows() {
  static const std::map<std::string, Arrows, std::less<>> table{
      {"base", {{}}},
      {"workload", {{"base"}}},
      {"mig", {{"base"}}},
      {"nn", {{"base"}}},
      {"store", {{"base"}}},
      {"launch", {{"base"}}},
      {"device", {{"mig"}}},
      {"cluster", {{"workload", "mig"}}},
      {"decide", {{"cluster"}}},
      {"policies", {{"decide", "nn"}}},
      {"sim", {{"decide"}}},
      {"learn", {{"sim", "nn", "policies"}}},
      {"bounds", {{"cluster"}}},
      {"experiment", {{"sim", "policies", "learn", "bounds"}}},
      {"report",
       {{"base"},
        {"experiment/results/gaps.h", "experiment/results/result_file.h",
         "experiment/results/run_record.h", "experiment/results/summary.h"}}},
      {"control", {{"decide"}, {"device/backend.h", "launch/launcher.h", "store/store.h"}}},
      {"api", {{"control"}}},
  };
  return table;
}

bool wires_everything(std::string_view module) {
  return module == "daemon" || module == "cli";
}

bool is_module(std::string_view name) {
  return wires_everything(name) || arrows().contains(name);
}

// A module sees what its arrows lead to, however long the way, as its link list does.
void collect_reachable(const std::string& module, std::set<std::string, std::less<>>& seen) {
  if (!seen.insert(module).second) return;
  const auto row = arrows().find(module);
  if (row == arrows().end()) return;
  for (const std::string& next : row->second.modules) collect_reachable(next, seen);
}

std::string first_component(std::string_view path) {
  return std::string(path.substr(0, std::min(path.find('/'), path.size())));
}

bool may_include(const std::string& module, const std::string& target) {
  if (wires_everything(module)) return true;
  std::set<std::string, std::less<>> reachable;
  collect_reachable(module, reachable);
  if (reachable.contains(first_component(target))) return true;
  return std::ranges::find(arrows().at(module).headers, target) !=
         arrows().at(module).headers.end();
}

bool is_header(std::string_view path) {
  return path.ends_with(".h");
}

}  // namespace

Violations long_functions(const File& file) {
  Violations found;
  for (const FunctionSpan& function : functions_of(file.text)) {
    const std::size_t lines = function.last_line - function.first_line + 1;
    if (lines <= kFunctionLinesMax) continue;
    found.push_back({file.path, function.first_line,
                     fmt::format("'{}' has {} lines, at most {}: split it by what it does",
                                 function.head, lines, kFunctionLinesMax)});
  }
  return found;
}

Violations long_file(const File& file) {
  const std::size_t lines = lines_of(file.text).size();
  if (lines <= kFileLinesMax) return {};
  return {{file.path, lines,
           fmt::format("{} lines, at most {}: split the file by idea", lines, kFileLinesMax)}};
}

Violations long_lines(const File& file) {
  Violations found;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (columns(lines[i]) <= kLineColumnsMax) continue;
    found.push_back({file.path, i + 1,
                     fmt::format("{} columns, at most {}", columns(lines[i]), kLineColumnsMax)});
  }
  return found;
}

Violations banned_calls(const File& file) {
  const std::string text = code_only(file.text, Directives::kKeep);
  const std::string_view code = text;
  Violations found;
  for (const Ban& ban : bans()) {
    if (!applies_to(ban, file.path)) continue;
    for (std::size_t at = code.find(ban.name); at != kNowhere; at = code.find(ban.name, at + 1)) {
      if (!matches(code, at, ban)) continue;
      found.push_back(
          {file.path, line_at(code, at), fmt::format("'{}': {}", ban.name, ban.instead)});
    }
  }
  return found;
}

Violations wrong_includes(const File& file) {
  if (!file.path.starts_with("src/")) return {};
  const std::string module = first_component(std::string_view(file.path).substr(4));
  if (!is_module(module)) return {{file.path, 1, fmt::format("'{}' is no module", module)}};
  Violations found;
  for (const Include& include : quoted_includes(file.text)) {
    if (!is_module(first_component(include.target))) {
      found.push_back(
          {file.path, include.line,
           fmt::format("'{}': write the path from src/, module first", include.target)});
    } else if (!may_include(module, include.target)) {
      found.push_back(
          {file.path, include.line,
           fmt::format("{} may not include '{}': docs/internals/architecture.md has no such arrow",
                       module, include.target)});
    }
  }
  return found;
}

Violations header_shape(const File& file) {
  Violations found;
  const std::vector<std::string_view> lines = lines_of(file.text);
  std::string sentence;
  for (const std::string_view line : lines) {
    if (!line.starts_with("// ")) break;
    sentence += line.substr(2);
  }
  if (sentence.find('.') == std::string::npos && sentence.find(':') == std::string::npos) {
    found.push_back({file.path, 1, "begin with a // sentence that says what this is for"});
  }
  const bool once = std::ranges::any_of(
      lines, [](std::string_view line) { return trim(line) == "#pragma once"; });
  if (!once) found.push_back({file.path, 1, "add #pragma once"});
  return found;
}

Violations unused_headers(const std::vector<File>& files) {
  std::set<std::string, std::less<>> included;
  for (const File& file : files) {
    const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    for (const Include& include : quoted_includes(file.text)) {
      const std::string beside = (folder / include.target).lexically_normal().generic_string();
      for (const std::string& path : {"src/" + include.target, "tests/" + include.target, beside}) {
        if (path != file.path) included.insert(path);
      }
    }
  }
  Violations found;
  for (const File& file : files) {
    if (!is_header(file.path) || included.contains(file.path)) continue;
    found.push_back({file.path, 1, "no file includes this header: use it or remove it"});
  }
  return found;
}

Violations leftover_markers(const File& file) {
  // Written in halves so that this file passes its own rule.
  static constexpr std::array<std::string_view, 3> kMarkers{
      "TO"
      "DO",
      "FIX"
      "ME",
      "XX"
      "X"};
  Violations found;
  for (const std::string_view marker : kMarkers) {
    for (std::size_t at = find_word(file.text, marker); at != kNowhere;
         at = find_word(file.text, marker, at + 1)) {
      found.push_back({file.path, line_at(file.text, at),
                       fmt::format("'{}' left over: do it now or open an issue", marker)});
    }
  }
  return found;
}

Violations machine_paths(const File& file) {
  static constexpr std::array<std::string_view, 3> kPlaces{
      "/work"
      "/",
      "/root"
      "/",
      "/home"
      "/"};
  const std::string_view text = file.text;
  Violations found;
  for (const std::string_view place : kPlaces) {
    for (std::size_t at = text.find(place); at != kNowhere; at = text.find(place, at + 1)) {
      // docs/work/x, ../work/x, ${root}/work/x and https://host/work/x are no paths of a machine.
      const char before = at == 0 ? ' ' : text[at - 1];
      if (is_word_char(before) || before == '.' || before == '-' || before == '}') continue;
      found.push_back({file.path, line_at(text, at),
                       fmt::format("'{}...' exists on one machine only: use a path from the "
                                   "root of the repository or a temporary directory",
                                   place)});
    }
  }
  return found;
}

Violations markdown_title(const File& file) {
  const std::string_view text = trim(file.text);
  if (text.starts_with("# ")) return {};
  return {{file.path, 1, "begin with a title: a line '# ...'"}};
}

Violations large_file(const std::string& path, std::uintmax_t bytes) {
  if (bytes <= kFileBytesMax) return {};
  return {{path, 1,
           fmt::format("{} bytes, at most {}: make it when it is needed, or compress it", bytes,
                       kFileBytesMax)}};
}

}  // namespace partita::tidy
