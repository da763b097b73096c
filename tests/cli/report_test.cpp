// The report page: what --report and `partita report` write, and what they say when they cannot.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "program.h"
#include "report/page_template.h"

namespace partita::cli_test {
namespace {

class Report : public ProgramTest {
 protected:
  void SetUp() override {
    if (report::page_template().empty()) GTEST_SKIP() << "built without the report page";
  }

  // What stands in the element of the data.
  nlohmann::json data_of(std::string_view name) const {
    const std::string page = read(name);
    constexpr std::string_view kBegin = "id=\"partita-data\">";
    const std::size_t begin = page.find(kBegin) + kBegin.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  }
};

constexpr std::string_view kTwoDays = "experiment tech-report --days 2 --threads 2";

TEST_F(Report, APageOfOneRunHoldsWhatTheRunPrints) {
  out_of("generate --hours 6 --seed 7 --out jobs.csv");
  const auto printed = run("simulate --jobs jobs.csv --gpus 3 --scheduler cedf --report r.html "
                           "--json")
                           .json();
  const auto data = data_of("r.html");
  const auto& policy = data["settings"][0]["policies"][0];
  EXPECT_EQ(policy["name"], "cedf");
  EXPECT_EQ(policy["et"]["mean"], printed["et"]);
  EXPECT_EQ(policy["late_share"], printed["late_share"]);
  EXPECT_DOUBLE_EQ(policy["energy_w_min"]["mean"].get<double>(),
                   printed["energy_w_min"].get<double>());
  EXPECT_EQ(data["day"][0]["jobs"]["id"].size(), printed["jobs"].get<std::size_t>());
  EXPECT_EQ(data["day"][0]["energy_j"], printed["energy_j"]);
  EXPECT_EQ(data["generated_by"].get<std::string>().find("r.html"), std::string::npos);
}

TEST_F(Report, ComparingShowsEveryPolicyAndTheBestOnesDay) {
  out_of("generate --hours 6 --seed 7 --out jobs.csv");
  const Ran ran = run_words({"compare", "--jobs", "jobs.csv", "--gpus", "2", "--schedulers",
                             "cedf,mdd,fifo", "--repartition", "static:2,6", "--also",
                             "cedf/none  edf-ss/static:2,2", "--report", "r.html", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto rows = ran.json();
  ASSERT_EQ(rows.size(), 5U);
  const auto data = data_of("r.html");
  EXPECT_EQ(data["settings"][0]["policies"].size(), 5U);
  EXPECT_EQ(data["settings"][0]["reference"], "mdd");
  EXPECT_EQ(data["day"][0]["scheduler"], rows[0]["scheduler"]);
  EXPECT_EQ(data["day"][0]["energy_j"], rows[0]["energy_j"]);
}

// One claim, one interval: that which holds for all of today's policies at once.
TEST_F(Report, AdviceHasTheSameIntervalsOnThePageAndInPrint) {
  out_of("generate --kind realistic --hours 480 --jobs-per-hour 3 --seed 3 --out jobs.csv");
  const std::string line =
      "advise --jobs jobs.csv --gpus 2 --evaluations 20 --time-limit 0 --report r.html";
  const auto printed = run(line + " --json").json();
  ASSERT_EQ(printed["comparisons"], 3);
  const auto today = std::ranges::find(printed["today"], printed["compared_with"],
                                       [](const nlohmann::json& each) { return each["name"]; });
  ASSERT_NE(today, printed["today"].end());
  const auto setting = data_of("r.html")["settings"][0];
  EXPECT_EQ(setting["reference"], printed["compared_with"]);
  const auto advised = std::ranges::find(setting["policies"], printed["advised"]["name"],
                                         [](const nlohmann::json& each) { return each["name"]; });
  ASSERT_NE(advised, setting["policies"].end());
  const auto& change = (*today)["change_percent"];
  ASSERT_TRUE(change["et"].contains("low"));
  EXPECT_EQ(change["et"], (*advised)["diff"]["et_percent"]);
  for (const char* end : {"mean", "low", "high"}) {
    EXPECT_NEAR(change["tardiness_min"][end].get<double>(),
                (*advised)["diff"]["tardiness_percent"][end].get<double>(), 1e-9);
    EXPECT_NEAR(change["energy_kwh"][end].get<double>(),
                (*advised)["diff"]["energy_percent"][end].get<double>(), 1e-9);
  }
  const std::string text = out_of(line);
  const std::string shown = fmt::format("({:+.1f} to {:+.1f})", change["et"]["low"].get<double>(),
                                        change["et"]["high"].get<double>());
  EXPECT_NE(text.find(shown), std::string::npos) << shown << " in\n" << text;
  EXPECT_NE(text.find("hold for all 3 of today's policies at once with 95 %, 98.3 % each"),
            std::string::npos)
      << text;
}

TEST_F(Report, PoliciesThatDoNotExistAreNamed) {
  out_of("generate --hours 1 --out jobs.csv");
  const auto also = [&](const char* text) {
    const Ran ran = run_words({"compare", "--jobs", "jobs.csv", "--also", text});
    EXPECT_EQ(ran.status, 2);
    return ran.err;
  };
  EXPECT_NE(also("cedf").find("--also: 'cedf': wanted SCHEDULER/REPARTITIONER"), std::string::npos);
  EXPECT_NE(also("magic/none").find("--also: unknown scheduler 'magic'"), std::string::npos);
  EXPECT_NE(also("cedf/static:77").find("--also: "), std::string::npos);
}

TEST_F(Report, AnExperimentAndItsFilesGiveTheSamePage) {
  out_of(std::string(kTwoDays) + " --report a.html");
  EXPECT_EQ(files(),
            (std::vector<std::string>{"a.html", "tech-report.day.json", "tech-report.meta.json",
                                      "tech-report.runs.jsonl", "tech-report.study.json"}));
  out_of("report --results tech-report.runs.jsonl --out b.html");
  EXPECT_EQ(read("a.html"), read("b.html"));
  EXPECT_EQ(out_of("report --results tech-report.runs.jsonl --out -"), read("a.html"));
  const auto data = data_of("a.html");
  EXPECT_EQ(data["settings"][0]["reference"], "mdd");
  EXPECT_EQ(data["figures"][0]["title"], "Published figures beside ours");
  EXPECT_GE(data["day"].size(), 1U);
}

TEST_F(Report, TitleReferenceAndSummaryCanBeAskedFor) {
  out_of(kTwoDays);
  const Ran ran = run_words({"report", "--results", "tech-report.runs.jsonl", "--title",
                             "Our <GPUs>", "--reference", "atc", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.json()["report"], "report.html");
  EXPECT_EQ(ran.json()["runs"], 28);
  EXPECT_EQ(ran.json()["settings"][0]["reference"], "atc");
  EXPECT_EQ(ran.json()["days_in_detail"], 0);
  EXPECT_EQ(data_of("report.html")["title"], "Our <GPUs>");
  EXPECT_NE(complaint("report --results tech-report.runs.jsonl --reference nobody")
                .find("unknown policy 'nobody'"),
            std::string::npos);
}

TEST_F(Report, WhatIsMissingOrDamagedIsNamedWithItsPlace) {
  EXPECT_NE(complaint("report").find("report needs --results"), std::string::npos);
  EXPECT_EQ(complaint("report --results none.runs.jsonl"),
            "cannot read none.runs.jsonl: No such file or directory");
  write("empty.runs.jsonl", "");
  EXPECT_NE(complaint("report --results empty.runs.jsonl").find("no runs on test days"),
            std::string::npos);
  out_of(std::string(kTwoDays) + " --report a.html");
  const std::string runs = read("tech-report.runs.jsonl");
  write("bad.runs.jsonl", runs.substr(0, runs.find('\n') + 1) + "{\"seed\":\n");
  EXPECT_TRUE(complaint("report --results bad.runs.jsonl").starts_with("bad.runs.jsonl:2: "));
  write("bad.day.json", "{\"policy\":");
  EXPECT_TRUE(complaint("report --results tech-report.runs.jsonl --day bad.day.json")
                  .starts_with("bad.day.json: "));
  write("bad.day.json", "{\"policy\":\"mdd\",\"gpu\":\"x\",\"gpus\":1,\"memory_slices\":8}");
  EXPECT_EQ(complaint("report --results tech-report.runs.jsonl --day bad.day.json"),
            "bad.day.json: jobs: found nothing of the kind, wanted an object of columns");
  EXPECT_FALSE(exists("report.html"));
}

TEST_F(Report, ADayOfOtherRunsIsLeftOutWithAWarning) {
  out_of(std::string(kTwoDays) + " --report a.html");
  const std::string day = read("tech-report.day.json");
  out_of("experiment tech-report --days 1 --restart --threads 2");
  write("tech-report.day.json", day);
  auto other = nlohmann::json::parse(day);
  other[0]["seed"] = 7;
  write("tech-report.day.json", other.dump());
  const Ran ran = run("report --results tech-report.runs.jsonl");
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find("is none of these runs; the page shows no day in detail"),
            std::string::npos);
  EXPECT_TRUE(data_of("report.html")["day"].is_null());
}

TEST_F(Report, APageThatCannotBeWrittenIsKnownBeforeTheRuns) {
  EXPECT_NE(complaint(std::string(kTwoDays) + " --report none/r.html").find("cannot write none/"),
            std::string::npos);
  EXPECT_TRUE(files().empty());
  out_of("generate --hours 1 --out jobs.csv");
  EXPECT_NE(complaint("simulate --jobs jobs.csv --report jobs.csv").find("another flag"),
            std::string::npos);
}

}  // namespace
}  // namespace partita::cli_test
