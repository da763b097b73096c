// The documents say what the program does.
#include <filesystem>

#include "cli/scenario.h"
#include "program.h"

namespace partita::cli_test {
namespace {

using Documents = ProgramTest;

std::string document(const std::string& name) {
  return read_file(std::string(PARTITA_SOURCE_DIR) + "/docs/" + name);
}

TEST_F(Documents, TheReferenceIsWhatTheRecordsSay) {
  EXPECT_EQ(document("cli.md"), out_of("help --markdown"))
      << "run: partita help --markdown > docs/cli.md";
}

TEST_F(Documents, TheExampleOfAScenarioRuns) {
  const std::string text = document("scenarios.md");
  const std::size_t begin = text.find("```toml\n") + 8;
  write("example.toml", text.substr(begin, text.find("```", begin) - begin));
  const auto json = run("simulate --scenario example.toml --json").json();
  EXPECT_EQ(json["gpus"], 4);
  EXPECT_GT(json["repartitions"].get<int>(), 0);
}

TEST_F(Documents, EveryPresetIsInTheDocumentAndInTheFolder) {
  const std::string text = document("scenarios.md");
  for (const auto& preset : run("scenarios --json").json()) {
    const std::string name = preset["name"];
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
    EXPECT_EQ(read_file(std::string(PARTITA_SOURCE_DIR) + "/scenarios/" + name + ".toml"),
              out_of("scenarios show " + name));
  }
}

}  // namespace
}  // namespace partita::cli_test
