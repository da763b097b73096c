// Every rule is tried on a good and a bad snippet (Rule), then on the whole repository (Tree).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "growth.h"
#include "rules.h"

namespace partita::tidy {
namespace {

namespace fs = std::filesystem;

bool is_cpp(std::string_view path) {
  return path.ends_with(".h") || path.ends_with(".cpp");
}

// Where C++ of ours stands.
bool is_source(std::string_view path) {
  return is_cpp(path) &&
         (path.starts_with("src/") || path.starts_with("tests/") || path.starts_with("bench/"));
}

bool is_text(const File& file) {
  return file.text.find('\0') == std::string::npos;
}

// What people leave in the root folder (a jobs.csv, a core) is not ours to judge, nor is what git
// does (.git is a file in a worktree).
bool is_root_file_of_ours(const fs::path& path) {
  if (path.filename() == ".git") return false;
  static const std::array<std::string, 4> kEndings{".md", ".txt", ".json", ""};
  return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

bool is_skipped_folder(const std::string& name) {
  return name.starts_with("build") || (name.starts_with('.') && name != ".ci");
}

bool is_fetched_or_made(const std::string& name) {
  return name == "node_modules" || name == "dist" || name == "__pycache__";
}

void add_folder(const fs::path& folder, std::vector<fs::path>& paths) {
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && is_fetched_or_made(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      paths.push_back(entry->path());
    }
  }
}

std::vector<fs::path> repository_paths() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(PARTITA_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !is_skipped_folder(name)) add_folder(entry.path(), paths);
    if (entry.is_regular_file() && is_root_file_of_ours(entry.path())) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

std::string repository_path(const fs::path& path) {
  return path.lexically_relative(PARTITA_SOURCE_DIR).generic_string();
}

std::vector<File> repository() {
  std::vector<File> files;
  for (const fs::path& path : repository_paths()) {
    if (fs::file_size(path) > kFileBytesMax) continue;  // LargeFiles names it
    std::ifstream in(path, std::ios::binary);
    files.push_back({repository_path(path), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  return files;
}

std::string listing(const Violations& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += fmt::format("{}:{}: {}\n", violation.path, violation.line, violation.message);
  }
  return text;
}

void expect_none(const std::string& complaints) {
  EXPECT_TRUE(complaints.empty()) << complaints;
}

using Rule = std::function<Violations(const File&)>;
using Filter = std::function<bool(const File&)>;

std::string complaints(const Rule& rule, const Filter& filter) {
  Violations all;
  for (const File& file : repository()) {
    if (!filter(file)) continue;
    const Violations found = rule(file);
    all.insert(all.end(), found.begin(), found.end());
  }
  return listing(all);
}

std::string complaints_about_sources(const Rule& rule) {
  return complaints(rule, [](const File& file) { return is_source(file.path); });
}

std::size_t count(const Rule& rule, std::string path, std::string text) {
  return rule({std::move(path), std::move(text)}).size();
}

std::string repeated(std::string_view line, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += line;
  return text;
}

// ---- the reading of C++

TEST(SourceText, CommentsAndLiteralsAreBlankedInPlace) {
  EXPECT_EQ(code_only("a; // rand()\nb", Directives::kKeep), "a;          \nb");
  EXPECT_EQ(code_only("f(\"x\\\"y\", 'z')", Directives::kKeep), "f(\"    \", ' ')");
  EXPECT_EQ(code_only("a /* b\nc */ d", Directives::kKeep), "a     \n     d");
  EXPECT_EQ(code_only("1'000'000 + x", Directives::kKeep), "1'000'000 + x");
  EXPECT_EQ(code_only("R\"q(\")q\" + x", Directives::kKeep), "R\"     \" + x");
}

TEST(SourceText, DirectivesAreBlankedOnlyOnRequest) {
  const std::string_view text = "#define A \\\n  {\nb";
  EXPECT_EQ(code_only(text, Directives::kKeep), text);
  EXPECT_EQ(code_only(text, Directives::kBlank), "           \n   \nb");
}

TEST(SourceText, IncludesInCommentsDoNotCount) {
  const auto found = quoted_includes("#include \"a/b.h\"\n// #include \"c.h\"\n#include <d>\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].target, "a/b.h");
  EXPECT_EQ(found[0].line, 1U);
}

TEST(SourceText, FunctionsAreToldFromTypesAndTables) {
  const auto found = functions_of(
      "namespace a {\n"
      "struct B {\n"
      " public:\n"
      "  int f() const {\n"
      "    return 1;\n"
      "  }\n"
      "};\n"
      "const std::vector<int> kTable = {\n"
      "  g(1),\n"
      "};\n"
      "template <typename T>\n"
      "T h(T x = {}) {\n"
      "  if (x) { return x; }\n"
      "  return {};\n"
      "}\n"
      "extern \"C\" int entry(int size) {\n"
      "  return 0;\n"
      "}\n"
      "auto k = [](int x) {\n"
      "  return x;\n"
      "};\n"
      "}\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].head, "int f() const");
  EXPECT_EQ(found[0].first_line, 4U);
  EXPECT_EQ(found[0].last_line, 6U);
  EXPECT_EQ(found[1].first_line, 11U);
  EXPECT_EQ(found[1].last_line, 15U);
  EXPECT_EQ(found[2].first_line, 16U);
  EXPECT_EQ(found[3].last_line, 21U);
}

// ---- each rule on snippets

TEST(Rule, FunctionsOfSeventyLinesPassAndLongerOnesDoNot) {
  const std::string seventy = "void f() {\n" + repeated("  g();\n", 68) + "}\n";
  const std::string more = "void f() {\n" + repeated("  g();\n", 69) + "}\n";
  EXPECT_EQ(count(long_functions, "a.cpp", seventy), 0U);
  EXPECT_EQ(count(long_functions, "a.cpp", more), 1U);
  EXPECT_EQ(count(long_functions, "a.cpp", "class A {\n" + seventy + seventy + "};\n"), 0U);
}

TEST(Rule, FilesOfSixHundredLinesPassAndLongerOnesDoNot) {
  EXPECT_EQ(count(long_file, "a.cpp", repeated("x\n", 600)), 0U);
  EXPECT_EQ(count(long_file, "a.cpp", repeated("x\n", 601)), 1U);
}

TEST(Rule, LinesOfAHundredColumnsPassAndLongerOnesDoNot) {
  EXPECT_EQ(count(long_lines, "a.cpp", repeated("x", 100) + "\n"), 0U);
  EXPECT_EQ(count(long_lines, "a.cpp", repeated("x", 101) + "\n"), 1U);
  EXPECT_EQ(count(long_lines, "a.cpp", repeated("\xC2\xB5", 100) + "\n"), 0U);
}

TEST(Rule, BannedCallsAreFoundWithTheirReplacement) {
  for (const std::string_view bad :
       {"int x = rand();", "std::srand(1);", "::system(\"ls\");", "return popen(a, b);",
        "std::regex r;", "std::regex_match(a, b);", "strcpy(a, b);", "sprintf(a, b);",
        "std::atoi(a)", "atof (a)", "std::normal_distribution<double> d;", "using namespace std;",
        "std::random_device d;", "std::time(nullptr)", "time(0)"}) {
    EXPECT_EQ(count(banned_calls, "src/mig/a.cpp", std::string(bad)), 1U) << bad;
  }
  const Violations found = banned_calls({"src/mig/a.cpp", "\nint x = atoi(y);"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, 2U);
  EXPECT_NE(found[0].message.find("parse_int"), std::string::npos);
}

TEST(Rule, NamesThatOnlyLookBannedPass) {
  for (const std::string_view good :
       {"// rand()", "\"system(\"", "brand();", "x.system();", "x->time(nullptr)", "time(now)",
        "snprintf(a, n, b);", "Distribution d;", "mine::rand();", "using namespace std_like;",
        "std::chrono::seconds s;", "int runtime(0);", "Micros time(0);"}) {
    EXPECT_EQ(count(banned_calls, "src/mig/a.cpp", std::string(good)), 0U) << good;
  }
}

TEST(Rule, TheEnvironmentIsReadInMainOnly) {
  EXPECT_EQ(count(banned_calls, "src/mig/a.cpp", "std::getenv(x)"), 1U);
  EXPECT_EQ(count(banned_calls, "src/cli/a.cpp", "std::getenv(x)"), 0U);
  EXPECT_EQ(count(banned_calls, "tests/golden/a.cpp", "std::getenv(x)"), 0U);
}

TEST(Rule, TheInterfaceShowsViewsAndNoRowsOfTheStore) {
  EXPECT_EQ(count(banned_calls, "src/api/service.cpp", "const store::JobRow& row"), 1U);
  EXPECT_EQ(count(banned_calls, "src/api/service_test.cpp", "const store::JobRow& row"), 0U);
  EXPECT_EQ(count(banned_calls, "src/daemon/a.cpp", "const store::JobRow& row"), 0U);
}

TEST(Rule, ModulesThatMustRepeatExactlyHaveNoWallClock) {
  EXPECT_EQ(count(banned_calls, "src/policies/a.cpp", "std::chrono::steady_clock::now()"), 1U);
  EXPECT_EQ(count(banned_calls, "src/cli/a.cpp", "std::chrono::steady_clock::now()"), 0U);
}

TEST(Rule, IncludesFollowTheArrows) {
  EXPECT_EQ(count(wrong_includes, "src/sim/a.cpp", "#include \"decide/view.h\"\n"), 0U);
  EXPECT_EQ(count(wrong_includes, "src/sim/a.cpp", "#include \"base/units.h\"\n"), 0U);
  EXPECT_EQ(count(wrong_includes, "src/sim/a.cpp", "#include \"sim/b.h\"\n"), 0U);
  EXPECT_EQ(count(wrong_includes, "src/cli/main.cpp", "#include \"policies/registry.h\"\n"), 0U);
  EXPECT_EQ(count(wrong_includes, "src/sim/a.cpp", "#include \"policies/registry.h\"\n"), 1U);
  EXPECT_EQ(count(wrong_includes, "src/mig/a.cpp", "#include \"workload/job.h\"\n"), 1U);
  EXPECT_EQ(count(wrong_includes, "src/base/a.cpp", "#include \"mig/layout.h\"\n"), 1U);
  EXPECT_EQ(count(wrong_includes, "src/sim/a.cpp", "#include \"b.h\"\n"), 1U);
  EXPECT_EQ(count(wrong_includes, "src/attic/a.cpp", ""), 1U);
}

TEST(Rule, APublicHeaderIsOneHeaderOfAModule) {
  EXPECT_EQ(
      count(wrong_includes, "src/report/a.cpp", "#include \"experiment/results/result_file.h\"\n"),
      0U);
  EXPECT_EQ(count(wrong_includes, "src/report/a.cpp", "#include \"experiment/runner.h\"\n"), 1U);
  EXPECT_EQ(count(wrong_includes, "src/control/a.cpp", "#include \"device/backend.h\"\n"), 0U);
  EXPECT_EQ(count(wrong_includes, "src/control/a.cpp", "#include \"device/nvml/nvml.h\"\n"), 1U);
}

TEST(Rule, HeadersBeginWithASentenceAndAreReadOnce) {
  EXPECT_EQ(count(header_shape, "a.h", "// What it is\n// for.\n#pragma once\n"), 0U);
  EXPECT_EQ(count(header_shape, "a.h", "// What it is for.\n"), 1U);
  EXPECT_EQ(count(header_shape, "a.h", "#pragma once\n"), 1U);
  EXPECT_EQ(count(header_shape, "a.h", "\n// Too late.\n#pragma once\n"), 1U);
}

TEST(Rule, HeadersThatNobodyIncludesAreFound) {
  const File used{"src/mig/a.h", ""};
  const File beside{"tests/tidy/b.h", ""};
  const File alone{"src/mig/c.h", "#include \"mig/c.h\"\n"};
  const File user{"tests/tidy/d.cpp", "#include \"mig/a.h\"\n#include \"b.h\"\n"};
  const Violations found = unused_headers({used, beside, alone, user});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "src/mig/c.h");
}

TEST(Rule, LeftoverMarkersAreFoundAsWordsOnly) {
  EXPECT_EQ(count(leftover_markers, "a", std::string("// TO") + "DO: later\n"), 1U);
  EXPECT_EQ(count(leftover_markers, "a", std::string("FIX") + "ME"), 1U);
  EXPECT_EQ(count(leftover_markers, "a", std::string("XX") + "X"), 1U);
  EXPECT_EQ(count(leftover_markers, "a", "mktemp /tmp/a.XXXXXX"), 0U);
}

TEST(Rule, PathsOfOneMachineAreFound) {
  EXPECT_EQ(count(machine_paths, "a", std::string("see /wo") + "rk/main"), 1U);
  EXPECT_EQ(count(machine_paths, "a", std::string("\"/ro") + "ot/x\""), 1U);
  EXPECT_EQ(count(machine_paths, "a", std::string("/ho") + "me/ann"), 1U);
  EXPECT_EQ(count(machine_paths, "a", "docs/work/x $root/y example.org/home/x"), 0U);
}

TEST(Rule, MarkdownBeginsWithATitle) {
  EXPECT_EQ(count(markdown_title, "a.md", "# A title\n\nText.\n"), 0U);
  EXPECT_EQ(count(markdown_title, "a.md", "Text.\n"), 1U);
  EXPECT_EQ(count(markdown_title, "a.md", ""), 1U);
}

TEST(Rule, FilesOfHalfAMebibytePassAndLargerOnesDoNot) {
  EXPECT_TRUE(large_file("a", 512 * 1024).empty());
  EXPECT_EQ(large_file("a", 512 * 1024 + 1).size(), 1U);
}

// ---- the repository

// A class with so many methods: declared, defined in place, overloaded, private, operators.
std::string class_with(std::size_t methods) {
  std::string text = "class Big : public Base {\n public:\n  enum class Kind { kA, kB };\n";
  text += "  struct Part {\n    int size() const { return 3; }\n    int n = (1 + 2);\n  };\n";
  for (std::size_t i = 0; i < methods; ++i) {
    text += i % 3 == 0   ? fmt::format("  int f{}(int x, int y = g(1)) const {{ return x; }}\n", i)
            : i % 3 == 1 ? fmt::format("  std::function<void(int)> f{}();\n", i)
                         : "  bool operator==(const Big& other) const = default;\n";
  }
  return text + " private:\n  friend void swap(Big&);\n  std::vector<int> held_ = make(3);\n};\n";
}

TEST(Rule, ClassesHaveAtMostSoManyMethods) {
  EXPECT_EQ(count(large_classes, "src/mig/a.h", class_with(kClassMethodsMax)), 0U);
  const Violations found = large_classes({"src/mig/a.h", class_with(kClassMethodsMax + 1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "Big has 36 methods, at most 35");
}

TEST(Rule, FoldersHoldAtMostSoManyFiles) {
  std::vector<File> files(kFolderFilesMax, {"src/mig/a.h", ""});
  files.push_back({"src/mig/models/b.h", ""});
  EXPECT_TRUE(full_folders(files).empty());
  files.push_back({"src/mig/c.h", ""});
  EXPECT_EQ(full_folders(files).size(), 1U);
}

TEST(Rule, HeavyHeadersAreForSources) {
  const std::string json = "#include <nlohmann/json.hpp>\n";
  EXPECT_EQ(count(heavy_includes, "src/api/a.h", json), 1U);
  EXPECT_EQ(count(heavy_includes, "src/api/a.h", "#include <nlohmann/json_fwd.hpp>\n"), 0U);
  EXPECT_EQ(count(heavy_includes, "src/api/a.cpp", json), 0U);
}

TEST(Rule, ProtocolsHaveOneHome) {
  const std::string call = "if (policy.every_events() > 0) return;\n";
  EXPECT_EQ(count(repeated_protocols, "src/sim/a.cpp", call), 1U);
  EXPECT_EQ(count(repeated_protocols, "src/decide/policy_driver.cpp", call), 0U);
  EXPECT_EQ(count(repeated_protocols, "src/sim/a_test.cpp", call), 0U);
}

TEST(Tree, HasFiles) {
  const std::vector<File> files = repository();
  const auto has = [&](std::string_view path) {
    return std::ranges::any_of(files, [&](const File& file) { return file.path == path; });
  };
  EXPECT_TRUE(has("CMakeLists.txt"));
  EXPECT_TRUE(has(".ci/run"));
  EXPECT_TRUE(has("src/base/units.h"));
}

TEST(Tree, FunctionsAreShort) {
  expect_none(complaints_about_sources(long_functions));
}

TEST(Tree, FilesAreShort) {
  expect_none(complaints_about_sources(long_file));
}

TEST(Tree, LinesAreShort) {
  expect_none(complaints_about_sources(long_lines));
}

TEST(Tree, NoBannedCalls) {
  expect_none(complaints_about_sources(banned_calls));
}

TEST(Tree, IncludesFollowTheArrows) {
  expect_none(complaints_about_sources(wrong_includes));
}

TEST(Tree, HeadersSayWhatTheyAreFor) {
  const auto headers = [](const File& file) {
    return is_source(file.path) && file.path.ends_with(".h");
  };
  expect_none(complaints(header_shape, headers));
}

TEST(Tree, EveryHeaderIsIncluded) {
  std::vector<File> sources = repository();
  std::erase_if(sources, [](const File& file) { return !is_source(file.path); });
  expect_none(listing(unused_headers(sources)));
}

TEST(Tree, NothingIsLeftOver) {
  expect_none(complaints(leftover_markers, is_text));
}

TEST(Tree, NoPathsOfOneMachine) {
  expect_none(complaints(machine_paths, is_text));
}

TEST(Tree, MarkdownHasTitles) {
  const auto markdown = [](const File& file) { return file.path.ends_with(".md"); };
  expect_none(complaints(markdown_title, markdown));
}

TEST(Tree, ClassesAreSmall) {
  expect_none(complaints_about_sources(large_classes));
}

TEST(Tree, FoldersAreSmall) {
  expect_none(listing(full_folders(repository())));
}

TEST(Tree, HeadersAreLight) {
  expect_none(complaints_about_sources(heavy_includes));
}

TEST(Tree, ProtocolsAreWrittenOnce) {
  expect_none(complaints_about_sources(repeated_protocols));
}

TEST(Tree, NoLargeFiles) {
  Violations all;
  for (const fs::path& path : repository_paths()) {
    const Violations found = large_file(repository_path(path), fs::file_size(path));
    all.insert(all.end(), found.begin(), found.end());
  }
  expect_none(listing(all));
}

}  // namespace
}  // namespace partita::tidy
