// Links between the documents: each leads to a file, and to a heading where it names one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "program.h"

namespace partita::cli_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PARTITA_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kRoot)) found.push_back(entry.path());
  for (const char* folder : {"docs", "models", "tests/scenarios"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      found.push_back(entry.path());
    }
  }
  std::erase_if(found, [](const fs::path& path) { return path.extension() != ".md"; });
  std::ranges::sort(found);
  return found;
}

// Without what stands between lines of ```, which is not Markdown.
std::vector<std::string> prose_lines(const fs::path& path) {
  std::istringstream lines(read_file(path.string()));
  std::vector<std::string> prose;
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      code = !code;
    } else if (!code) {
      prose.push_back(line);
    }
  }
  return prose;
}

// As the usual renderers name headings: lower case, blanks as dashes, without punctuation.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') {
      anchor += '-';
    } else if (c >= 'A' && c <= 'Z') {
      anchor += static_cast<char>(c - 'A' + 'a');
    } else if (c == '-' || c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      anchor += c;
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& path) {
  std::set<std::string> anchors;
  for (const std::string& line : prose_lines(path)) {
    const std::size_t text = line.find_first_not_of('#');
    if (text != 0 && text != std::string::npos && line[text] == ' ') {
      anchors.insert(anchor_of(std::string_view(line).substr(text + 1)));
    }
  }
  return anchors;
}

std::vector<std::string> links_of(const fs::path& path) {
  std::vector<std::string> links;
  for (const std::string& line : prose_lines(path)) {
    for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
      links.push_back(line.substr(at + 2, line.find(')', at) - at - 2));
    }
  }
  return links;
}

// Empty when the link leads somewhere.
std::string trouble_of(const fs::path& from, const std::string& link) {
  if (link.starts_with("http")) return {};
  const std::size_t hash = link.find('#');
  const std::string file = link.substr(0, hash);
  const fs::path target = file.empty() ? from : (from.parent_path() / file).lexically_normal();
  if (!fs::exists(target)) return "no such file";
  if (hash == std::string::npos || target.extension() != ".md") return {};
  return anchors_of(target).contains(link.substr(hash + 1)) ? "" : "no such heading";
}

TEST(DocumentLinks, EachLeadsToAFileAndAHeading) {
  std::size_t links = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& link : links_of(document)) {
      ++links;
      EXPECT_EQ(trouble_of(document, link), "") << document << ": " << link;
    }
  }
  EXPECT_GT(links, 150U);
}

TEST(DocumentLinks, ABrokenOneIsFound) {
  const fs::path readme = kRoot / "README.md";
  EXPECT_EQ(trouble_of(readme, "docs/glossary.md#policies"), "");
  EXPECT_EQ(trouble_of(readme, "docs/no-such-page.md"), "no such file");
  EXPECT_EQ(trouble_of(readme, "docs/glossary.md#no-such-heading"), "no such heading");
}

// A page that the index does not name is found by nobody.
TEST(DocumentLinks, TheIndexNamesEveryDocument) {
  std::set<fs::path> named = {kRoot / "docs/README.md"};
  for (const std::string& link : links_of(kRoot / "docs/README.md")) {
    named.insert((kRoot / "docs" / link).lexically_normal());
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() != ".md") continue;
    EXPECT_TRUE(named.contains(entry.path())) << entry;
  }
}

}  // namespace
}  // namespace partita::cli_test
