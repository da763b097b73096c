// What users of sbatch look for: batch scripts, folders, files for the output, variables.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

class Batch : public Live {
 protected:
  std::string script(const std::string& text) {
    std::string path = folder_.path() + "/job.sh";
    std::ofstream(path) << text;
    return path;
  }
  // `partita submit --socket ... WORDS`, where nothing may stand behind the script's name.
  std::string submit_words(std::vector<std::string> words, int status = 0) {
    words.insert(words.begin(), {"submit", "--socket", daemon_.socket()});
    std::string said = printed(std::move(words), status);
    if (status == 0) said.pop_back();
    return said;
  }
};

TEST_F(Batch, AScriptIsTakenAtItsSubmissionWithItsFlagsAndArguments) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string path = script(
      "#!/bin/bash -e\n#PARTITA --name fromscript --mem 3G\n#PARTITA --env WHO=script\n"
      "echo \"$WHO <$1> <$2>\"\n");
  const std::string id = submit_words({"--mem", "4G", path, "a b", "--mem"});
  std::filesystem::remove(path);
  partita({"wait", id});
  EXPECT_EQ(partita({"logs", id}), "script <a b> <--mem>\n");
  const Json story = job(id);
  EXPECT_EQ(story["name"], "fromscript");
  EXPECT_EQ(story["memory_gib"], 4);
  EXPECT_EQ(story["argv"][0], path);
  const std::string wrong = script("#!/bin/sh\n#PARTITA --memory 3G\n");
  EXPECT_NE(submit_words({wrong}, 2).find("job.sh line 2: unknown flag '--memory'"),
            std::string::npos);
}

TEST_F(Batch, AnyProgramMayReadTheScript) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit_words(
      {script("#!/usr/bin/env perl\nprint \"$ARGV[0] \" . (1 + 1) . \"\\n\";\n"), "x"});
  partita({"wait", id});
  EXPECT_EQ(partita({"logs", id}), "x 2\n");
  const std::string missing = submit_words({script("#!/no/such/interpreter\n")});
  partita({"wait", missing}, 1);
  EXPECT_NE(job(missing)["reason"].get<std::string>().find("/no/such/interpreter"),
            std::string::npos);
}

TEST_F(Batch, VariablesOfTheCallerGoAlongWhereExportSaysSo) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const auto shown = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words{"/usr/bin/env",  "TAKEN=one two", "PARTITA_TOKEN=secret",
                                   program(),       "submit",        "--socket",
                                   daemon_.socket()};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(),
                 {"--", "/bin/sh", "-c", "echo ${TAKEN-none} ${PARTITA_TOKEN-none} ${B-none}"});
    const std::string path = folder_.path() + "/number";
    std::filesystem::remove(path);
    EXPECT_EQ(run_to_end(words, path), 0) << read(path);
    std::string id = read(path);
    if (!id.empty()) id.pop_back();
    partita({"wait", id});
    return partita({"logs", id});
  };
  EXPECT_EQ(shown({}), "none none none\n");
  EXPECT_EQ(shown({"--export", "TAKEN,B=2"}), "one two none 2\n");
  EXPECT_EQ(shown({"--export", "ALL,B=2", "--env", "B=3"}), "one two none 3\n");
}

TEST_F(Batch, AJobRunsInTheFolderThatChdirNamesAndWritesThere) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit({"--chdir", folder_.path(), "--name", "n", "--output", "out.%x.%j",
                                 "--", "/bin/sh", "-c", "pwd; echo wrong >&2"});
  partita({"wait", id});
  const std::string path = std::filesystem::canonical(folder_.path()).string();
  EXPECT_EQ(read(folder_.path() + "/out.n." + id), path + "\nwrong\n");
  EXPECT_EQ(partita({"logs", id}),
            fmt::format("[partita: attempt 1 writes to {}/out.n.{}]\n", folder_.path(), id));
  const std::string story = partita({"job", id});
  EXPECT_NE(story.find("folder      " + folder_.path() + "\n"), std::string::npos) << story;
  EXPECT_NE(story.find("output      " + folder_.path() + "/out.%x.%j\n"), std::string::npos)
      << story;
}

TEST_F(Batch, LinesOfSbatchAreWarnedOfOnce) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string path = folder_.path() + "/slurm.sh";
  std::ofstream(path) << "#!/bin/sh\n#SBATCH --mem=4G\n#SBATCH -n 1\ntrue\n";
  const std::string said = submit_words({path});
  EXPECT_TRUE(said.find("slurm.sh line 2: #SBATCH lines are not read") != std::string::npos)
      << said;
  EXPECT_EQ(said.find("#SBATCH"), said.rfind("#SBATCH")) << said;
}

// The first attempt empties the file, the next one appends; what it wrote still says why it failed.
TEST_F(Batch, AJobThatRunsOutOfMemoryIsSeenInItsOwnersFileToo) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1", "--no-early-restart"})) << daemon_.said();
  const std::string path = folder_.path() + "/log";
  std::ofstream(path) << "before\n";
  const std::string id = submit({"--output", path, "--", grow_program(), "2G", "7G", "0.5"});
  partita({"wait", id});
  EXPECT_TRUE(has_event(job(id), "out-of-memory")) << job(id).dump(1);
  const std::string text = read(path);
  EXPECT_EQ(text.find("before"), std::string::npos);
  EXPECT_NE(text.find("CUDA out of memory"), std::string::npos);
  EXPECT_NE(text.find("100 % done"), std::string::npos);
}

TEST_F(Batch, TheFileIsOpenedWithTheRightsOfTheOwnerAndNoMore) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string mine = folder_.path() + "/mine";  // root's
  const std::string theirs = folder_.path() + "/theirs";
  std::filesystem::create_directories(mine);
  std::filesystem::create_directories(theirs);
  ASSERT_EQ(::chown(theirs.c_str(), kNobody, kNobody), 0);
  const auto submit_as_nobody = [&](const std::string& file) {
    return as_nobody([&] {
      return run_to_end({program(), "submit", "--socket", daemon_.socket(), "--chdir", "/",
                         "--output", file, "--", "/bin/echo", "hello"});
    });
  };
  ASSERT_EQ(submit_as_nobody(mine + "/out"), 0);
  ASSERT_EQ(submit_as_nobody(theirs + "/out"), 0);
  partita({"wait", "1-2"}, 1);
  EXPECT_EQ(job("1")["state"], "failed");
  EXPECT_NE(job("1")["reason"].get<std::string>().find("mine/out: Permission denied"),
            std::string::npos)
      << job("1")["reason"];
  EXPECT_FALSE(std::filesystem::exists(mine + "/out"));
  EXPECT_EQ(read(theirs + "/out"), "hello\n");
  struct stat file {};
  ASSERT_EQ(::stat((theirs + "/out").c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, kNobody);
  EXPECT_EQ(file.st_mode & 0777, 0644U);
}

}  // namespace
}  // namespace partita::live_test
