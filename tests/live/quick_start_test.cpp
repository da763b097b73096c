// The quick starts of the documents, run as they are written by somebody who has run scripts/demo.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

// The blocks of commands of a document between two of its lines, one after the other. A daemon that
// the document gives a terminal of its own goes to the background and gets the time to begin.
std::string commands_of(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  const std::size_t end = to.empty() ? text.size() : text.find(to, begin);
  std::istringstream lines(text.substr(begin, end - begin));
  std::string commands;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
    } else if (inside) {
      const bool alone = line.find("partita serve") != std::string::npos && !line.ends_with('&');
      commands += line + (alone ? " &\nsleep 1" : "") + "\n";
    }
  }
  return commands;
}

class QuickStart : public Live {
 protected:
  // Runs them in a folder that has what scripts/demo leaves: the sources and the program.
  std::string run(std::string commands) {
    const std::filesystem::path root = folder_.path() + "/repository";
    std::filesystem::create_directories(root / "build/release/src/cli");
    std::filesystem::create_symlink(program(), root / "build/release/src/cli/partita");
    std::filesystem::create_directory_symlink(PARTITA_SOURCE_DIR "/examples", root / "examples");
    const std::string own = folder_.path() + "/own";
    for (std::size_t at = 0; (at = commands.find("/tmp/partita", at)) != std::string::npos;) {
      commands.replace(at, 12, own);
      at += own.size();
    }
    const std::string script = folder_.path() + "/script";
    std::ofstream(script) << "set -eu\ncd " << root.string()
                          << "\ntrap 'kill -TERM $(jobs -p)' EXIT\n"
                          << commands;
    const std::string said = folder_.path() + "/said";
    EXPECT_EQ(run_to_end({"/bin/bash", script}, said), 0) << commands << read(said);
    return read(said);
  }
};

void expect_the_story(const std::string& said) {
  EXPECT_NE(said.find("grow-memory is done: exit status 0"), std::string::npos) << said;
  EXPECT_NE(said.find("stopped before it fails"), std::string::npos) << said;
  EXPECT_EQ(said.find("out-of-memory"), std::string::npos) << said;
}

TEST_F(QuickStart, ThatOfTheGuideWorksAsItIsWritten) {
  const std::string text = read(PARTITA_SOURCE_DIR "/docs/guides/operating.md");
  const std::string commands = commands_of(text, "## Try it without a GPU", "## Install");
  ASSERT_NE(commands.find("partita submit"), std::string::npos) << commands;
  expect_the_story(run(commands));
}

TEST_F(QuickStart, ThatOfTheFirstStepsWorksAsItIsWritten) {
  const std::string text = read(PARTITA_SOURCE_DIR "/docs/start/daemon.md");
  const std::string commands = commands_of(text, "# The daemon", "`--mem auto` means");
  ASSERT_NE(commands.find("partita submit"), std::string::npos) << commands;
  expect_the_story(run(commands));
}

}  // namespace
}  // namespace partita::live_test
