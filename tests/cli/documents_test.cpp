// The documents say what the program does.
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/flags/scenario.h"
#include "program.h"

namespace partita::cli_test {
namespace {

using Documents = ProgramTest;

std::string document(const std::string& name) {
  return read_file(std::string(PARTITA_SOURCE_DIR) + "/docs/" + name);
}

TEST_F(Documents, TheReferenceIsWhatTheRecordsSay) {
  EXPECT_EQ(document("reference/cli.md"), out_of("help --markdown"))
      << "run: partita help --markdown > docs/reference/cli.md";
}

// What many verbs take is described once, so that the reference stays short enough to read.
TEST_F(Documents, AFlagOfMoreThanThreeVerbsIsDescribedOnce) {
  std::map<std::string, int> times;
  std::istringstream lines(document("reference/cli.md"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| `--")) ++times[line];
  }
  EXPECT_GT(times.size(), 150U);
  for (const auto& [line, count] : times) EXPECT_LE(count, 3) << line;
}

// Words of a command line; a part in single quotes is one word, blanks and all.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST_F(Documents, TheExampleOfTheReadmePrintsWhatItShows) {
  std::string text = read_file(std::string(PARTITA_SOURCE_DIR) + "/README.md");
  text = text.substr(text.find("```\n$ partita ") + 4);
  std::istringstream lines(text.substr(0, text.find("```")));
  std::string shown;
  std::string printed;
  std::size_t commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("$ partita ")) {
      shown += line + "\n";
      continue;
    }
    ++commands;
    while (line.ends_with(" \\")) {
      std::string more;
      std::getline(lines, more);
      line.replace(line.size() - 1, 1, more.substr(more.find_first_not_of(' ')));
    }
    const Ran ran = run_words(words_of(line.substr(10)));
    EXPECT_EQ(ran.status, 0) << line << "\n" << ran.err;
    printed += ran.out;
  }
  EXPECT_EQ(commands, 2U);
  EXPECT_EQ(printed, shown);
}

// "-55.0 % (-74.9 to -35.3)" in a table of the README stands in the output that the evidence shows.
TEST_F(Documents, TheReadmeGivesTheFiguresOfTheEvidence) {
  const std::string evidence = document("concepts/evidence.md");
  std::istringstream lines(read_file(std::string(PARTITA_SOURCE_DIR) + "/README.md"));
  std::size_t figures = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) continue;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '|');) {
      if (cell.find(" % (") == std::string::npos) continue;
      ++figures;
      const std::string figure = cell.substr(1, cell.size() - 2);  // without its blanks
      EXPECT_NE(evidence.find(figure), std::string::npos) << figure << " of: " << line;
    }
  }
  EXPECT_GE(figures, 15U);
}

TEST_F(Documents, TheExampleOfAScenarioRuns) {
  const std::string text = document("reference/scenarios.md");
  const std::size_t begin = text.find("```toml\n") + 8;
  write("example.toml", text.substr(begin, text.find("```", begin) - begin));
  const auto json = run("simulate --scenario example.toml --json").json();
  EXPECT_EQ(json["gpus"], 4);
  EXPECT_GT(json["repartitions"].get<int>(), 0);
}

TEST_F(Documents, EveryPresetIsInTheDocumentAndInTheFolder) {
  const std::string text = document("reference/scenarios.md");
  for (const auto& preset : run("scenarios --json").json()) {
    const std::string name = preset["name"];
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
    EXPECT_EQ(read_file(std::string(PARTITA_SOURCE_DIR) + "/scenarios/" + name + ".toml"),
              out_of("scenarios show " + name));
  }
}

// A model that ships loads, runs, has a card, and says nothing of the machine it was made on.
TEST_F(Documents, EveryModelThatShipsRunsAndHasACard) {
  const std::filesystem::path folder = std::string(PARTITA_SOURCE_DIR) + "/models";
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    ++models;
    std::filesystem::path card = entry.path();
    EXPECT_TRUE(std::filesystem::exists(card.replace_extension(".md"))) << entry.path();
    const std::string bytes = read_file(entry.path().string());
    const std::size_t command = bytes.find("\"command\":\"") + 11;
    const std::string text = bytes.substr(command, bytes.find('"', command) - command);
    EXPECT_TRUE(text.starts_with("partita train ")) << text;
    EXPECT_EQ(text.find('/'), std::string::npos) << text;
    const bool places = bytes.find("\"encoding\":\"place") != std::string::npos;
    const std::string flag = places ? "--repartition static:2 --scheduler " : "--repartition ";
    EXPECT_EQ(
        run("simulate --scenario smart-mig --hours 1 " + flag + "learned:" + entry.path().string())
            .status,
        0)
        << entry.path();
  }
  EXPECT_EQ(models, 4U);
  EXPECT_EQ(run("simulate --scenario smart-mig --hours 1 --repartition timetable:@" +
                (folder / "smart-mig.rule.txt").string())
                .status,
            0);
}

}  // namespace
}  // namespace partita::cli_test
