#include "cli/flags/command_line.h"

#include <gtest/gtest.h>

#include "cli/flags/generator_options.h"

namespace partita::cli {
namespace {

Result<Command> parse(std::vector<std::string> words) {
  return parse_command_line(words);
}

std::string error_of(std::vector<std::string> words) {
  const Result<Command> command = parse_command_line(words);
  return command ? "" : command.error().message;
}

TEST(CommandLine, ValuesAreReadWithOrWithoutAnEqualsSign) {
  for (const auto& words : {std::vector<std::string>{"simulate", "--gpus", "8"},
                            std::vector<std::string>{"simulate", "--gpus=8"}}) {
    const auto command = parse(words);
    ASSERT_TRUE(command.ok());
    EXPECT_EQ(command->verb, Verb::kSimulate);
    EXPECT_EQ(command->values.count("gpus"), 8U);
    EXPECT_TRUE(command->values.given("gpus")->typed);
  }
}

TEST(CommandLine, DefaultsStandWhereNothingIsGiven) {
  const auto command = parse({"simulate"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->values.text("gpu"), "a100-40gb");
  EXPECT_EQ(command->values.count("gpus"), 1U);
  EXPECT_EQ(command->values.text("preemption"), "pays=30");
  EXPECT_EQ(command->values.text("repartition-cost"), "measured");
  EXPECT_EQ(command->values.number("et-a"), 2e-7);
  EXPECT_EQ(command->values.given("gpus"), nullptr);
  EXPECT_FALSE(command->values.is_set("jobs"));
}

TEST(CommandLine, NoWordsAskForHelpAndVersionHasAFlag) {
  EXPECT_EQ(parse({})->verb, Verb::kHelp);
  EXPECT_EQ(parse({"--help"})->verb, Verb::kHelp);
  EXPECT_EQ(parse({"-h"})->verb, Verb::kHelp);
  EXPECT_EQ(parse({"--version"})->verb, Verb::kVersion);
}

TEST(CommandLine, UnknownWordsAreAnsweredWithTheNearestAndTheKnown) {
  EXPECT_NE(error_of({"simulat"}).find("did you mean simulate?"), std::string::npos);
  EXPECT_NE(error_of({"nonsense"}).find("known: gpus, layouts"), std::string::npos);
  EXPECT_NE(error_of({"gpus", "--jsn"}).find("did you mean --json?"), std::string::npos);
  EXPECT_NE(error_of({"gpus", "--gpus", "3"}).find("known: --profiles"), std::string::npos);
  EXPECT_NE(error_of({"gpus", "x"}).find("no place for the argument 'x'"), std::string::npos);
}

TEST(CommandLine, AFlagWithoutItsValueOrGivenTwiceIsRefused) {
  EXPECT_EQ(error_of({"simulate", "--gpus"}), "--gpus needs a value");
  EXPECT_EQ(error_of({"simulate", "--gpus", "1", "--gpus", "2"}), "--gpus is given twice");
}

TEST(CommandLine, ADashIsAValue) {
  const auto command = parse({"simulate", "--jobs", "-"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->values.text("jobs"), "-");
}

TEST(CommandLine, ArgumentsWithoutAFlagAreNamed) {
  const auto command = parse({"scenarios", "show", "smart-mig"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->values.text("ACTION"), "show");
  EXPECT_EQ(command->values.text("NAME"), "smart-mig");
}

TEST(GeneratorOptions, DefaultsAreThoseOfTheGenerators) {
  const Values none;
  const workload::PapersOptions papers = papers_options(none);
  EXPECT_EQ(papers.hours, workload::PapersOptions{}.hours);
  EXPECT_EQ(papers.rate, workload::PapersOptions{}.rate);
  EXPECT_EQ(papers.mix.bert_share, workload::PapersMixOptions{}.bert_share);
  EXPECT_EQ(papers.mix.training_share, workload::PapersMixOptions{}.training_share);
  EXPECT_EQ(papers.mix.inference_mean_min, workload::PapersMixOptions{}.inference_mean_min);
  EXPECT_EQ(papers.mix.training_high_min, workload::PapersMixOptions{}.training_high_min);
  EXPECT_EQ(papers.mix.memory_gib, workload::PapersMixOptions{}.memory_gib);
  EXPECT_EQ(papers.seed, workload::PapersOptions{}.seed);
  EXPECT_EQ(poisson_options(none).jobs, workload::PoissonOptions{}.jobs);
  EXPECT_EQ(poisson_options(none).rate_per_min, workload::PoissonOptions{}.rate_per_min);
}

TEST(GeneratorOptions, DefaultsOfRealisticAndOfReadersAreTheirs) {
  const Values none;
  const workload::RealisticOptions made = realistic_options(none);
  const workload::RealisticOptions own;
  EXPECT_EQ(made.jobs_per_hour, own.jobs_per_hour);
  EXPECT_EQ(made.profile, own.profile);
  EXPECT_EQ(made.burstiness, own.burstiness);
  EXPECT_EQ(made.median_s, own.median_s);
  EXPECT_EQ(made.sigma, own.sigma);
  EXPECT_EQ(made.shortest_s, own.shortest_s);
  EXPECT_EQ(made.longest_s, own.longest_s);
  EXPECT_EQ(made.slack_median, own.slack_median);
  EXPECT_EQ(made.slack_sigma, own.slack_sigma);
  EXPECT_EQ(made.slack_least, own.slack_least);
  EXPECT_EQ(made.curves, own.curves);
  EXPECT_EQ(made.memory_scale, own.memory_scale);
  EXPECT_EQ(made.memory_sigma, own.memory_sigma);
  EXPECT_EQ(made.memory_unknown_gib, own.memory_unknown_gib);
  EXPECT_EQ(made.memory_max_gib, own.memory_max_gib);
  const workload::ReaderOptions read = reader_options(none);
  const workload::ReaderOptions reader;
  EXPECT_EQ(read.deadline_low, reader.deadline_low);
  EXPECT_EQ(read.deadline_high, reader.deadline_high);
  EXPECT_EQ(read.origin, reader.origin);
  EXPECT_EQ(read.openb_smaller_slices, reader.openb_smaller_slices);
  EXPECT_EQ(read.openb_gpu_gib, reader.openb_gpu_gib);
  EXPECT_EQ(read.azure_prefill_tokens_per_s, reader.azure_prefill_tokens_per_s);
  EXPECT_EQ(read.azure_decode_tokens_per_s, reader.azure_decode_tokens_per_s);
}

TEST(GeneratorOptions, HoursReplaceTheNumberOfJobsOfPoisson) {
  const auto command = parse({"generate", "--kind", "poisson", "--hours", "2"});
  ASSERT_TRUE(command.ok());
  const workload::PoissonOptions options = poisson_options(command->values);
  EXPECT_FALSE(options.jobs.has_value());
  EXPECT_EQ(options.hours, 2.0);
}

TEST(GeneratorOptions, AFlagOfAnotherKindIsRefused) {
  const auto command = parse({"generate", "--burstiness", "3"});
  ASSERT_TRUE(command.ok());
  EXPECT_TRUE(check_applies(command->values, "realistic").ok());
  const Status refused = check_applies(command->values, "papers");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "--burstiness does not go with jobs of the kind papers; it is for realistic");
}

TEST(GeneratorOptions, JobsAreReadOrMadeAndTheTypedWayWins) {
  const auto both = parse({"simulate", "--jobs", "x", "--kind", "papers"});
  ASSERT_TRUE(both.ok());
  EXPECT_FALSE(job_origin(both->values).ok());
  auto typed = parse({"simulate", "--jobs", "x"});
  ASSERT_TRUE(typed->values.set(*find_flag("kind"), {"papers", "file", false}).ok());
  EXPECT_EQ(**job_origin(typed->values), "trace");
  EXPECT_FALSE(job_origin(Values{})->has_value());
}

}  // namespace
}  // namespace partita::cli
