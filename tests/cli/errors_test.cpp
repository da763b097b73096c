// Bad input: one sentence that says what was found and what was wanted, status 2, nothing written.
#include <fmt/format.h>

#include "program.h"

namespace partita::cli_test {
namespace {

class Errors : public ProgramTest {
 protected:
  void expect_complaint(std::string_view line, std::string_view part, int status = 2) {
    const std::string said = complaint(line, status);
    EXPECT_NE(said.find(part), std::string::npos) << line << "\n" << said;
  }

  // What simulate says of a file with this row.
  std::string of_row(std::string_view row, int status = 2) {
    write("bad.csv", std::string(kHeader) + std::string(row) + "\n");
    return complaint("simulate --jobs bad.csv", status);
  }
};

TEST_F(Errors, UnknownNamesAreAnsweredWithTheKnownOnes) {
  expect_complaint("frobnicate", "known: gpus, layouts, layout, generate");
  expect_complaint("simulat", "did you mean simulate?");
  expect_complaint("simulate --gpuss 3", "did you mean --gpus?");
  expect_complaint("layouts --gpu a1000", "known: a30-24gb, a100-40gb");
  expect_complaint("simulate --scheduler best", "known: edf-ss, edf-fs");
  expect_complaint("simulate --scheduler mdd+best", "known: earliest, fastest");
  expect_complaint("compare --schedulers cedf,best", "known: edf-ss");
  expect_complaint("simulate --kind papers --power x", "known: smart-mig, tech-report");
  expect_complaint("simulate --scenario x", "known: ccgrid25");
  expect_complaint("simulate --repartition sometimes",
                   "migm-a, migm-b, none, ondemand, static, timetable");
  expect_complaint("generate --kind x", "papers, poisson, realistic");
  expect_complaint("generate --kind realistic --profile x", "known: ");
  expect_complaint("generate --kind realistic --curves x", "known");
  expect_complaint("convert --jobs x --dialect y", "azure-llm");
  expect_complaint("completion tcsh", "bash, zsh, fish");
  expect_complaint("scenarios show x", "smart-mig");
}

TEST_F(Errors, LiveCommandsSayHowTheyAreMeant) {
  expect_complaint("submit --mem 4G nowhere.sh",
                   "nowhere.sh: No such file or directory; a program, and not a script, stands "
                   "after --, as in -- nowhere.sh");
  expect_complaint("cancel 41 --user 2001", "both numbers of jobs and --user were given");
  expect_complaint("cancel", "is said by their numbers");
  for (const char* verb : {"job", "logs", "wait", "hold", "requeue"}) {
    expect_complaint(verb, fmt::format("as in `partita {} 12`", verb));
  }
}

TEST_F(Errors, NumbersOutOfRangeAreAnsweredWithTheRange) {
  for (const char* bad : {"0", "-1", "1000001", "99999999999999999999", "2.5", "nan", "eight"}) {
    expect_complaint(std::string("simulate --gpus ") + bad, "from 1 to 1,000,000");
  }
  for (const char* flag : {"--hours", "--rate", "--training-share", "--inference-mean"}) {
    for (const char* bad : {"nan", "inf", "-1", "1e300", "x"}) {
      expect_complaint(std::string("generate ") + flag + " " + bad, "wanted a number from 0 to");
    }
  }
  expect_complaint("simulate --et-a -1", "--et-a: found '-1'");
  expect_complaint("simulate --horizon -1", "--horizon: found '-1'");
  expect_complaint("simulate --seed -1", "--seed: found '-1'");
  expect_complaint("generate --deadline 2:1", "LOW not above HIGH");
  expect_complaint("generate --deadline nan:1", "LOW:HIGH");
  expect_complaint("generate --deadline -5:1", "deadline");
  expect_complaint("simulate --preemption cost=-3", "cost=SECONDS");
  expect_complaint("simulate --preemption pays=-3", "pays=SECONDS");
}

TEST_F(Errors, ImpossibleLayoutsSayWhy) {
  const Ran ran = run_words(
      {"simulate", "--kind", "papers", "--repartition", "static:3g.20gb:0,2g.10gb:4,3g.20gb:4"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("3g.20gb needs memory slices 4-7; 2g.10gb:4 holds 4-5"), std::string::npos)
      << ran.err;
  expect_complaint("simulate --kind papers --gpus 3 --repartition static:1,2",
                   "2 layouts for 3 GPUs");
  expect_complaint("simulate --kind papers --repartition static:13", "13");
  expect_complaint("simulate --kind papers --repartition timetable:25:00=1", "HH:MM=LAYOUTS");
}

TEST_F(Errors, JobsThatCannotBeNamesTheirLineAndColumn) {
  EXPECT_NE(of_row("a,0,10,c,0,abc,,,,").find("bad.csv line 2, column t1_s: found 'abc'"),
            std::string::npos);
  EXPECT_NE(of_row("a,10,5,c,0,1,1,1,1,1").find("deadline_s"), std::string::npos);
  EXPECT_NE(of_row("a,0,nan,c,0,1,1,1,1,1").find("column deadline_s: found 'nan'"),
            std::string::npos);
  EXPECT_NE(of_row("a,-1,5,c,0,1,1,1,1,1").find("arrival_s"), std::string::npos);
  EXPECT_NE(of_row("a,0,5,c,-2,1,1,1,1,1").find("memory_gib"), std::string::npos);
  EXPECT_NE(of_row("a,0,5").find("line 2"), std::string::npos);
  write("empty.csv", "");
  expect_complaint("simulate --jobs empty.csv", "empty.csv is empty");
  write("columns.csv", "id,arrival_s\n");
  expect_complaint("simulate --jobs columns.csv --dialect native", "deadline_s");
}

TEST_F(Errors, BadRowsCanBeSkippedAndAreCounted) {
  write("bad.csv", std::string(kHeader) + "a,0,10,c,0,5,4,3,2,1\nb,0,x,c,0,5,4,3,2,1\n");
  const Ran ran = run("simulate --jobs bad.csv --skip-bad-rows --json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.json()["jobs"], 1);
  EXPECT_TRUE(ran.err.starts_with("partita: warning: ")) << ran.err;
  EXPECT_NE(ran.err.find("1 row"), std::string::npos) << ran.err;
}

TEST_F(Errors, AFileOfBadRowsAloneIsNotSkippedOver) {
  write("bad.csv", std::string(kHeader) + "b,0,x,c,0,5,4,3,2,1\n");
  expect_complaint("simulate --jobs bad.csv --skip-bad-rows",
                   "bad.csv has no row that can be used: 1 row skipped as bad; the first: bad.csv "
                   "line 2, column deadline_s");
}

TEST_F(Errors, JobsThatFitNoSliceAreAnAnswerOfNo) {
  EXPECT_NE(of_row("big,0,10,c,100,5,4,3,2,1", 1).find("job 'big' needs 100 GiB"),
            std::string::npos);
  write("wide.csv", std::string(kHeader) + "wide,0,10,c,0,,,,,1\n");
  expect_complaint("simulate --jobs wide.csv --repartition static:2 --schedule s.csv", "wide", 1);
  expect_complaint("compare --jobs wide.csv --repartition static:2", "edf-ss: job 'wide'", 1);
  EXPECT_FALSE(exists("s.csv"));
}

TEST_F(Errors, FlagsThatDoNotGoTogetherAreRefused) {
  out_of("generate --hours 1 --out jobs.csv");
  expect_complaint("simulate", "there are no jobs");
  expect_complaint("convert", "nothing to convert");
  expect_complaint("simulate --jobs jobs.csv --kind papers", "exclude each other");
  expect_complaint("simulate --jobs jobs.csv --rate 3", "--rate does not go with jobs from a file");
  expect_complaint("simulate --jobs jobs.csv --deadline 2:3", "native format");
  expect_complaint("generate --burstiness 3", "it is for realistic");
  expect_complaint("simulate --gpus 1 --gpus 2", "given twice");
  expect_complaint("simulate --gpus", "--gpus needs a value");
  expect_complaint("generate --json", "--json needs --out FILE");
  expect_complaint("simulate --jobs jobs.csv --schedule a --layouts ./a", "another flag");
  expect_complaint("simulate --jobs jobs.csv --schedule -", "standard output");
}

TEST_F(Errors, ScenarioFilesAreRefusedWithTheirLine) {
  write("bad.toml", "[cluster]\ngpus = 2\nspeed = 3\n");
  expect_complaint("simulate --scenario bad.toml",
                   "bad.toml line 3: unknown key 'cluster.speed'; known: cluster.gpu");
  write("layout.toml", "[workload]\nkind = 'papers'\n[policy]\nrepartition = 'static:99'\n");
  expect_complaint("simulate --scenario layout.toml", "layout.toml line 4, policy.repartition");
  expect_complaint("simulate --scenario none.toml", "cannot read none.toml");
  expect_complaint("simulate --scenario ./", "Is a directory");
  write("file.toml", "[workload]\njobs = 'j.csv'\n");
  expect_complaint("generate --scenario file.toml", "file.toml line 2, workload.jobs is a file");
}

TEST_F(Errors, FilesThatCannotBeReadAreNamed) {
  expect_complaint("simulate --jobs none.csv", "cannot read none.csv: No such file");
  expect_complaint("simulate --jobs .", "cannot read .: Is a directory");
}

TEST_F(Errors, BoundsNeedJobsThatFit) {
  write("none.csv", kHeader);
  const Ran none = run("bound --jobs none.csv");  // after the warning that the file holds none
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no jobs to bound anything for"), std::string::npos) << none.err;
  write("big.csv", std::string(kHeader) + "big,0,10,c,100,5,4,3,2,1\n");
  expect_complaint("bound --jobs big.csv", "job 'big' needs 100 GiB", 1);
  write("one.csv", std::string(kHeader) + "one,0,10,c,0,5,4,3,2,1\n");
  expect_complaint("bound --jobs one.csv --gpus 0", "--gpus: found '0'");
  expect_complaint("bound --jobs one.csv --kind papers", "one of energy, tardiness, et");
  write("proof.json", "{}");
  expect_complaint("bound --jobs one.csv --verify proof.json", "--verify: this is no certificate");
}

}  // namespace
}  // namespace partita::cli_test
