#include "cli/flags/batch_script.h"

#include <gtest/gtest.h>

#include "cli/flags/command_line.h"
#include "cli/flags/live_values.h"

namespace partita::cli {
namespace {

std::string trouble_with(std::string_view script) {
  Values values;
  const Status set = set_script_flags(script, "job.sh", values);
  return set ? "" : set.error().message;
}

TEST(BatchScript, FlagsStandInTheCommentsAtItsTop) {
  Values values;
  ASSERT_TRUE(set_script_flags("#!/bin/bash\n# trains\n\n#PARTITA --mem 4G --name train\n"
                               "#PARTITA --env A=1\n##PARTITA --array 9\n#PARTITA\n"
                               "#PARTITA --env 'B=2 3' --comment=x\necho\n#PARTITA --array 7\n",
                               "job.sh", values)
                  .ok());
  EXPECT_EQ(values.as<std::optional<double>>("mem"), 4.0);
  EXPECT_EQ(values.text("job-name"), "train");
  EXPECT_EQ(values.text("env"), "A=1\nB=2 3");
  EXPECT_EQ(values.text("comment"), "x");
  EXPECT_EQ(values.text("array"), "1");
}

TEST(BatchScript, FlagsOfTheCommandLineWin) {
  const std::vector<std::string> words{"submit", "--mem", "9G", "--env", "C=3", "job.sh"};
  Values values = parse_command_line(words)->values;
  ASSERT_TRUE(
      set_script_flags("#!/bin/sh\n#PARTITA --mem 4G --env A=1 --name n\n", "job.sh", values).ok());
  EXPECT_EQ(values.as<std::optional<double>>("mem"), 9.0);
  EXPECT_EQ(values.text("env"), "C=3");
  EXPECT_EQ(values.text("job-name"), "n");
}

TEST(BatchScript, LinesOfSbatchAreFoundAtItsTopOnly) {
  EXPECT_EQ(first_sbatch_line("#!/bin/sh\n\n# x\n#SBATCH --mem 4G\n#SBATCH -n 1\n"), 4U);
  EXPECT_EQ(first_sbatch_line("#!/bin/sh\n##SBATCH --mem 4G\necho\n#SBATCH -n 1\n"), 0U);
}

TEST(BatchScript, WhatIsWrongIsSaidWithFileAndLine) {
  EXPECT_TRUE(trouble_with("#!/bin/sh\n\n#PARTITA --memory 4G\n")
                  .starts_with("job.sh line 3: unknown flag '--memory' of submit;"));
  EXPECT_TRUE(trouble_with("#!/bin/sh\n#PARTITA --mem lots\n").starts_with("job.sh line 2"));
  EXPECT_TRUE(
      trouble_with("#!/bin/sh\n#PARTITA --name 'x\n").starts_with("job.sh line 2: a quote"));
  EXPECT_EQ(trouble_with("#!/bin/sh\n#PARTITA --mem 1G\n#PARTITA --mem 2G\n"),
            "job.sh line 3: --mem is given twice; first at job.sh line 2, --mem");
  EXPECT_EQ(trouble_with("#!/bin/sh\n#PARTITA --socket /s\n"),
            "job.sh line 2: --socket is not a flag of a job");
  EXPECT_TRUE(trouble_with("#!/bin/sh\n#PARTITA other.sh\n").starts_with("job.sh line 2"));
}

TEST(BatchScript, ItsFirstLineNamesTheProgramThatReadsIt) {
  EXPECT_TRUE(check_script("#! /bin/sh -e\ntrue\n", "job.sh").ok());
  for (const char* text : {"", "echo\n", "#!\n", "#!  \n", "#!/bin/sh\r\ntrue\r\n"}) {
    EXPECT_FALSE(check_script(text, "job.sh").ok()) << text;
  }
}

TEST(BatchScript, WhatFollowsItsNameIsItsOwn) {
  const auto command = parse_command_line(std::vector<std::string>{
      "submit", "--mem", "4G", "--name=x", "job.sh", "--mem", "7", "--", "-x"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->values.text("SCRIPT"), "job.sh");
  EXPECT_EQ(command->values.text("mem"), "4G");
  EXPECT_EQ(command->values.command, (std::vector<std::string>{"--mem", "7", "--", "-x"}));
}

using Texts = std::vector<std::string>;

TEST(Export, SaysWhichVariablesOfTheCallerGoAlong) {
  const Texts caller{"HOME=/h", "PATH=/p", "X=1=2", "PARTITA_TOKEN=t", "CUDA_VISIBLE_DEVICES=0",
                     "odd"};
  const auto taken = [&](const char* text) {
    return exported_variables(*parse_export(text), caller);
  };
  EXPECT_EQ(taken("ALL"), (Texts{"HOME=/h", "PATH=/p", "X=1=2"}));
  EXPECT_EQ(taken("NONE"), Texts{});
  EXPECT_EQ(taken("X,MISSING,Y=5"), (Texts{"X=1=2", "Y=5"}));
  EXPECT_EQ(taken("ALL,HOME=/other"), (Texts{"HOME=/other", "PATH=/p", "X=1=2"}));
  for (const char* text : {"", ",", "X,,Y", "=1", "NONE,X", "X,NONE"}) {
    EXPECT_FALSE(parse_export(text).ok()) << text;
  }
}

}  // namespace
}  // namespace partita::cli
