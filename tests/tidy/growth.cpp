#include "growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace partita::tidy {
namespace {

// A protocol, the words by which its calls are known, and the files that may have them.
struct Protocol {
  std::string_view words;
  std::vector<std::string_view> homes;
  std::string_view instead;
};

const std::vector<Protocol>& protocols() {
  static const std::vector<Protocol> table{
      {"every_events()",
       {"src/decide/", "src/policies/", "src/learn/", "src/control/restore.cpp",
        "src/api/test_support.h"},
       "policies are driven by decide::PolicyDriver"},
      {"relieve(",
       {"src/decide/", "src/policies/", "src/control/passes.cpp"},
       "policies are driven by decide::PolicyDriver"},
      {"smallest_change(",
       {"src/mig/", "src/cluster/layout_stepper.h", "src/device/layouts/", "src/cli/"},
       "layouts are stepped by cluster::LayoutStepper"},
  };
  return table;
}

// Parsed headers of these take a second and more of every file that sees them.
constexpr std::array<std::string_view, 5> kHeavy{"<nlohmann/json.hpp>", "<CLI/", "<toml++/",
                                                 "<Eigen/", "<yaml-cpp/"};

// The body of the kernels, which is no interface; and structs with values of JSON in them.
constexpr std::array<std::string_view, 4> kMayBeHeavy{
    "src/nn/kernels/body.h", "src/report/study_notes.h", "src/report/page_data.h",
    "src/cli/output/report_page.h"};

// Whether a piece of a class body, up to its ';' or '{', declares a function.
bool declares_function(std::string_view piece) {
  const std::size_t open = piece.find('(');
  if (open == kNowhere) return false;
  const std::string_view before = piece.substr(0, open);
  if (before.find('=') != kNowhere && before.find("operator") == kNowhere) return false;
  for (const std::string_view other : {"friend ", "using ", "static_assert", "typedef "}) {
    if (before.find(other) != kNowhere) return false;
  }
  return true;
}

struct Body {
  std::string name;
  std::size_t begin = 0;  // after its '{'
};

// From the '{' of a class on: how many functions it declares itself.
std::size_t count_methods(std::string_view code, std::size_t begin) {
  std::size_t methods = 0;
  std::size_t piece = begin;
  int depth = 1;
  int parentheses = 0;
  for (std::size_t i = begin; i < code.size() && depth > 0; ++i) {
    const char c = code[i];
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (parentheses > 0) continue;
    if (depth == 1 && (c == ';' || c == '{')) {
      if (declares_function(code.substr(piece, i - piece))) ++methods;
    }
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ';' || c == '{' || c == '}') piece = i + 1;
  }
  return methods;
}

// Classes and structs that have a body, nested ones too.
std::vector<Body> class_bodies(std::string_view code) {
  std::vector<Body> bodies;
  for (const std::string_view word : {"class ", "struct "}) {
    for (std::size_t at = code.find(word); at != kNowhere; at = code.find(word, at + 1)) {
      const bool inside = at > 0 && (is_word_char(code[at - 1]));
      const bool is_enum = at >= 5 && code.substr(at - 5, 5) == "enum ";
      if (inside || is_enum) continue;
      const std::size_t stop = code.find_first_of(";{(=>", at);
      if (stop == kNowhere || code[stop] != '{') continue;
      const std::size_t name = at + word.size();
      bodies.push_back(
          {std::string(code.substr(name, code.find_first_of(" :{\n", name) - name)), stop + 1});
    }
  }
  return bodies;
}

}  // namespace

Violations large_classes(const File& file) {
  if (!file.path.starts_with("src/")) return {};
  const std::string code = code_only(file.text, Directives::kBlank);
  Violations found;
  for (const Body& body : class_bodies(code)) {
    const std::size_t methods = count_methods(code, body.begin);
    if (methods <= kClassMethodsMax) continue;
    found.push_back(
        {file.path, line_at(code, body.begin),
         fmt::format("{} has {} methods, at most {}", body.name, methods, kClassMethodsMax)});
  }
  return found;
}

Violations full_folders(const std::vector<File>& files) {
  std::map<std::string, std::size_t> counts;
  for (const File& file : files) {
    if (!file.path.starts_with("src/")) continue;
    ++counts[file.path.substr(0, file.path.rfind('/'))];
  }
  Violations found;
  for (const auto& [folder, count] : counts) {
    if (count <= kFolderFilesMax) continue;
    found.push_back({folder, 1,
                     fmt::format("{} files, at most {}: give a topic a folder of its own", count,
                                 kFolderFilesMax)});
  }
  return found;
}

Violations heavy_includes(const File& file) {
  if (!file.path.starts_with("src/") || !file.path.ends_with(".h")) return {};
  if (std::ranges::find(kMayBeHeavy, file.path) != kMayBeHeavy.end()) return {};
  Violations found;
  for (const std::string_view heavy : kHeavy) {
    const std::size_t at = file.text.find(fmt::format("#include {}", heavy));
    if (at == kNowhere) continue;
    found.push_back(
        {file.path, line_at(file.text, at),
         fmt::format("{}...: include it in the .cpp, everybody pays for it here", heavy)});
  }
  return found;
}

Violations repeated_protocols(const File& file) {
  if (!file.path.starts_with("src/") || file.path.ends_with("_test.cpp")) return {};
  const std::string code = code_only(file.text, Directives::kBlank);
  Violations found;
  for (const Protocol& protocol : protocols()) {
    const bool home = std::ranges::any_of(
        protocol.homes, [&](std::string_view path) { return file.path.starts_with(path); });
    const std::size_t at = home ? kNowhere : code.find(protocol.words);
    if (at == kNowhere) continue;
    found.push_back(
        {file.path, line_at(code, at), fmt::format("'{}': {}", protocol.words, protocol.instead)});
  }
  return found;
}

}  // namespace partita::tidy
