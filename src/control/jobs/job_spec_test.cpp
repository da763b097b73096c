#include "control/jobs/job_spec.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "control/energy_split.h"
#include "control/jobs/job_life.h"
#include "control/jobs/memory_trend.h"

namespace partita::control {
namespace {

std::string random_bytes(Rng& rng, std::size_t most) {
  std::string text(rng.below(most + 1), ' ');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

JobSpec random_spec(Rng& rng) {
  JobSpec spec;
  for (std::uint64_t i = rng.below(5); i > 0; --i) spec.argv.push_back(random_bytes(rng, 30));
  for (std::uint64_t i = rng.below(5); i > 0; --i) {
    spec.environment.push_back(random_bytes(rng, 30));
  }
  spec.directory = random_bytes(rng, 30);
  spec.name = random_bytes(rng, 30);
  if (rng.below(2) == 0) spec.memory_gib = rng.uniform(0, 100);
  if (rng.below(2) == 0) spec.deadline = Micros{static_cast<std::int64_t>(rng.next() >> 3)};
  for (auto& time : spec.times) {
    if (rng.below(2) == 0) time = Micros{static_cast<std::int64_t>(rng.next() >> 20)};
  }
  for (std::uint64_t i = rng.below(3); i > 0; --i) spec.checkpoint.push_back(random_bytes(rng, 9));
  if (rng.below(2) == 0) spec.time_limit = Micros{static_cast<std::int64_t>(rng.next() >> 20)};
  if (rng.below(3) == 0) spec.comment = random_bytes(rng, 30);
  if (rng.below(3) == 0) spec.output = random_bytes(rng, 30);
  if (rng.below(3) == 0) spec.script = random_bytes(rng, 30);
  if (rng.below(3) == 0)
    spec.priority = static_cast<std::int64_t>(rng.below(2'000'001)) - 1'000'000;
  spec.hold = rng.below(3) == 0;
  if (rng.below(3) == 0) spec.array_limit = static_cast<std::int64_t>(rng.below(1'000));
  for (std::uint64_t i = rng.below(4) / 2; i > 0; --i) spec.after.push_back(random_bytes(rng, 9));
  return spec;
}

TEST(JobSpec, WhatIsWrittenIsReadBack) {
  Rng rng(1);
  for (int i = 0; i < 2'000; ++i) {
    const JobSpec spec = random_spec(rng);
    const Result<JobSpec> read = decode_spec(encode_spec(spec));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, spec);
  }
}

TEST(JobSpec, ItsTextIsWhatOlderProgramsWrote) {
  JobSpec spec;
  spec.argv = {"./train", "--fast"};
  spec.environment = {"A=b"};
  spec.directory = "/tmp";
  spec.name = "train";
  EXPECT_EQ(encode_spec(spec), "5:spec11:27:./train6:--fast1:13:A=b4:/tmp5:train0:0:0:0:0:0:0:1:0");
  spec.memory_gib = 9.62;
  spec.deadline = Micros{1'700'000'000'000'000};
  spec.times[0] = Micros{1'200'000'000};
  spec.times[4] = Micros{300'000'000};
  spec.checkpoint = {"save", "now"};
  EXPECT_EQ(encode_spec(spec),
            "5:spec11:27:./train6:--fast1:13:A=b4:/"
            "tmp5:train4:9.6216:170000000000000010:12000000000:0:0:9:3000000001:24:save3:now");
  spec.time_limit = Micros{60'000'000};
  EXPECT_EQ(
      encode_spec(spec),
      "5:spec21:27:./train6:--fast1:13:A=b4:/"
      "tmp5:train4:9.6216:170000000000000010:12000000000:0:0:9:3000000001:24:save3:now8:60000000");
}

TEST(JobSpec, TheFileForItsOutputIsAnAbsolutePathWithKnownMarks) {
  JobSpec spec;
  spec.argv = {"x"};
  spec.directory = "/";
  spec.name = "train";
  spec.output = "/data/a/%x-%j.100%%";
  EXPECT_TRUE(check_spec(spec, {}).ok());
  EXPECT_EQ(output_path_of(spec, {JobNumber{12}}), "/data/a/train-12.100%");
  spec.output = "/data/%A_%a";
  EXPECT_TRUE(check_spec(spec, {}).ok());
  EXPECT_EQ(output_path_of(spec, {JobNumber{12}, JobNumber{9}, 3}), "/data/9_3");
  EXPECT_EQ(output_path_of(spec, {JobNumber{12}}), "/data/12_0");
  for (const char* path : {"log", "", "/data/%u", "/data/%", "/a\nb"}) {
    spec.output = path;
    EXPECT_FALSE(check_spec(spec, {}).ok()) << path;
  }
  spec.output.reset();
  EXPECT_EQ(output_path_of(spec, {JobNumber{12}}), "");
}

TEST(JobSpec, AScriptNamesWhoReadsIt) {
  JobSpec spec;
  spec.argv = {"job.sh"};
  spec.directory = "/";
  spec.name = "n";
  spec.script = "#!/bin/sh\ntrue\n";
  EXPECT_TRUE(check_spec(spec, {}).ok());
  for (const std::string& text :
       {std::string(), std::string("true\n"), std::string("#! \n"),
        std::string("#!/bin/sh\n\0", 11), "#!/bin/sh\n" + std::string(65536, 'x')}) {
    spec.script = text;
    EXPECT_FALSE(check_spec(spec, {}).ok()) << text.substr(0, 40);
  }
}

TEST(JobSpec, ADependencyIsANumberAndHowItHasToEnd) {
  EXPECT_EQ(parse_dependency("12")->job, JobNumber{12});
  EXPECT_FALSE(parse_dependency("12")->any);
  EXPECT_FALSE(parse_dependency("12:ok")->any);
  EXPECT_TRUE(parse_dependency("12:any")->any);
  for (const char* wrong : {"", "0", "-1", "12:", "12:never", "twelve", ":ok", "12:ok:ok"}) {
    EXPECT_FALSE(parse_dependency(wrong)) << wrong;
  }
  JobSpec spec;
  spec.argv = {"x"};
  spec.directory = "/";
  spec.name = "n";
  spec.after = {"12:any", "x"};
  EXPECT_EQ(check_spec(spec, {}).error().message,
            "after has 'x'; wanted the number of a job, as in 12, 12:ok or 12:any");
  spec.after.assign(kDependenciesMax, "12");
  EXPECT_TRUE(check_spec(spec, {}).ok());
  spec.after.emplace_back("12");
  EXPECT_EQ(check_spec(spec, {}).error().message, "after names 1001 jobs; wanted at most 1000");
}

TEST(JobSpec, APriorityMayBeBelowZeroAndHasLimits) {
  JobSpec spec;
  spec.argv = {"x"};
  spec.directory = "/";
  spec.name = "n";
  for (const std::int64_t good : {-1'000'000, -1, 0, 1, 1'000'000}) {
    spec.priority = good;
    EXPECT_TRUE(check_spec(spec, {}).ok()) << good;
    EXPECT_EQ(decode_spec(encode_spec(spec))->priority, good);
  }
  spec.priority = -1'000'001;
  EXPECT_EQ(check_spec(spec, {}).error().message,
            "priority is -1000001; wanted -1000000 to 1000000");
  EXPECT_FALSE(decode_spec(encode_spec(spec)).ok());
}

TEST(JobSpec, ACommentStandsByItsNameBehindTheRest) {
  JobSpec spec;
  spec.argv = {"x"};
  spec.directory = "/";
  spec.name = "n";
  spec.comment = "a line";
  const std::string rest = "1:11:x1:01:/1:n0:0:0:0:0:0:0:1:00:";
  EXPECT_EQ(encode_spec(spec), "5:spec3" + rest + "7:comment6:a line");
  EXPECT_FALSE(decode_spec("5:spec3" + rest + "8:surprise6:a line").ok());
  EXPECT_FALSE(decode_spec("5:spec4" + rest).ok());
}

TEST(JobSpec, ACommentIsOneLineOfBoundedLength) {
  JobSpec spec;
  spec.argv = {"x"};
  spec.directory = "/";
  spec.name = "n";
  for (const std::string& good : {std::string(), std::string(1024, 'x'), std::string("für wen?")}) {
    spec.comment = good;
    EXPECT_TRUE(check_spec(spec, {}).ok()) << good;
  }
  spec.comment = std::string(1025, 'x');
  EXPECT_EQ(check_spec(spec, {}).error().message, "comment has 1025 bytes; wanted at most 1024");
  for (const char* bad : {"two\nlines", "\033[31m", "\x7f"}) {
    spec.comment = bad;
    EXPECT_EQ(check_spec(spec, {}).error().message,
              "comment has a control character; wanted one line of text");
  }
}

TEST(JobSpec, TextThatWasCutOrChangedIsReadAsSomethingOrRefused) {
  Rng rng(2);
  for (int i = 0; i < 5'000; ++i) {
    std::string text = encode_spec(random_spec(rng));
    EXPECT_FALSE(decode_spec(text.substr(0, text.size() - 1)).ok());
    text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const Result<JobSpec> read = decode_spec(text);
    if (read) {
      EXPECT_TRUE(decode_spec(encode_spec(*read)).ok());
    }
  }
}

TEST(JobSpec, TimesThatWereNotGivenFollowFromThoseThatWere) {
  JobSpec spec;
  spec.times[0] = Micros::seconds(1'200);
  spec.times[4] = Micros::seconds(300);
  const workload::Job job = as_policy_job(spec, Micros{}, 3);
  EXPECT_EQ(job.time[0], Micros::seconds(1'200));
  EXPECT_EQ(job.time[4], Micros::seconds(300));
  for (std::size_t i = 1; i < job.time.size(); ++i) EXPECT_LT(job.time[i], job.time[i - 1]);
  JobSpec one;
  one.times[2] = Micros::seconds(100);
  const workload::Job even = as_policy_job(one, Micros{}, 3);
  EXPECT_NEAR(even.time[0].to_seconds(), 300, 1e-3);
  EXPECT_NEAR(even.time[4].to_seconds(), 300.0 / 7, 1e-3);
}

TEST(JobLife, NothingButAWaitOnRequestFollowsAnEndAndEverythingElseCanEnd) {
  for (std::size_t i = 0; i < kJobStates; ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(job_state_of(name_of(state)), state);
    int followers = 0;
    for (std::size_t j = 0; j < kJobStates; ++j) {
      const auto next = static_cast<JobState>(j);
      if (next != JobState::kQueued) followers += may_move(state, next) ? 1 : 0;
    }
    EXPECT_EQ(followers == 0, has_ended(state));
    if (has_ended(state)) {
      EXPECT_TRUE(may_move(state, JobState::kQueued));
    }
  }
  EXPECT_FALSE(may_move(JobState::kCancelling, JobState::kQueued));
}

// Readings of a program, and the first of them at which it is said to outgrow the slice.
std::optional<int> restart_at(double (*memory)(double), double capacity, double length) {
  const decide::EarlyRestart rule;
  MemoryTrend trend;
  for (int i = 1; i < 200; ++i) {
    trend.add(i, memory(i), rule);
    if (memory(i) > capacity) return {};
    if (trend.outgrows(capacity, length, rule)) return i;
  }
  return {};
}

TEST(MemoryTrend, WhatGrowsSteadilyIsSeenBeforeItFails) {
  const auto at = restart_at([](double t) { return 2 + t / 10; }, 4.75, 200);
  ASSERT_TRUE(at);
  EXPECT_EQ(*at, 9);  // eight readings, and one that says the same
}

TEST(MemoryTrend, WhatAllocatesOnceAndStaysIsLeftAlone) {
  EXPECT_FALSE(restart_at([](double t) { return t < 3 ? t : 3.0; }, 4.75, 200));
  EXPECT_FALSE(restart_at([](double) { return 4.7; }, 4.75, 200));
}

TEST(EnergySplit, TheSharesAddUpToTheBoard) {
  Rng rng(3);
  for (int i = 0; i < 1'000; ++i) {
    std::vector<int> compute;
    for (std::uint64_t n = rng.below(5); n > 0; --n) {
      compute.push_back(static_cast<int>(1 + rng.below(7)));
    }
    const double total = rng.uniform(0, 1000);
    const EnergyShares shares = split_energy(total, 40, Micros::seconds(2), compute);
    double sum = shares.idle_j;
    for (const double each : shares.busy_j) sum += each;
    EXPECT_NEAR(sum, total, 1e-9);
  }
}

TEST(EnergySplit, ACounterThatFallsBeginsAnew) {
  BoardMeter meter;
  EXPECT_FALSE(meter.read(100, Micros::seconds(1)));
  EXPECT_EQ(meter.read(150, Micros::seconds(2))->joules, 50);
  EXPECT_FALSE(meter.read(10, Micros::seconds(3)));
  EXPECT_EQ(meter.read(15, Micros::seconds(4))->joules, 5);
}

}  // namespace
}  // namespace partita::control
