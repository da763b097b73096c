// The text that Prometheus reads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/service_fixture.h"
#include "api/submission.h"

namespace partita::api {
namespace {

using Json = nlohmann::json;
using test::kAnn;
using test::kBob;
using test::ServiceTest;
using test::some_contents;

TEST_F(ServiceTest, WorkThatFitsNowhereIsToldAsFragmentation) {
  EXPECT_EQ(Json::parse(body(kBob, "/v1/status"))["fragmentation"], 1.0);
  EXPECT_NE(metrics_text(controller_, around_).find("\npartita_fragmentation_ratio 1\n"),
            std::string::npos);
  control::Controller empty({}, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                            std::make_unique<test::Idle>(), std::make_unique<test::Still>());
  ASSERT_TRUE(empty.restore(Micros{1}, {}, {}, {}).ok());
  EXPECT_NE(metrics_text(empty, around_).find("\npartita_fragmentation_ratio 0\n"),
            std::string::npos);
}

TEST_F(ServiceTest, MetricsAreTextThatPrometheusReads) {
  const std::string text = metrics_text(controller_, around_);
  EXPECT_NE(text.find("partita_jobs{state=\"queued\"} 1\n"), std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("partita_")) << line;
    ++lines;
  }
  EXPECT_GT(lines, 20U);
}

// The label `job` is Prometheus's own: of a target that sets it, it becomes `exported_job`.
TEST_F(ServiceTest, NoLabelIsOneThatPrometheusSetsItself) {
  const std::string text = metrics_text(controller_, around_);
  for (const char* label : {"{job=", ",job=", "{instance=", ",instance="}) {
    EXPECT_EQ(text.find(label), std::string::npos) << label;
  }
}

// The value behind a name and its labels.
double value_of(const std::string& text, const std::string& what) {
  const auto at = text.find("\n" + what + " ");
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? -1 : std::stod(text.substr(at + what.size() + 2));
}

// A store of an older program has no totals; what its jobs tell is counted once.
TEST_F(ServiceTest, CountersGoOnWhereTheStoreLeftOff) {
  control::Options options;
  options.limits.finished_jobs_kept_max = 1;
  const auto make = [&] {
    return std::make_unique<control::Controller>(
        options, **mig::find_gpu("a100-40gb"),
        std::vector<control::GpuFact>{{"GPU-0", "A100", GpuId{0}}}, std::make_unique<test::Idle>(),
        std::make_unique<test::Still>());
  };
  store::Contents contents = some_contents();
  auto held = make();
  auto turn = held->restore(Micros{1'700'000'200'000'000}, contents, {}, {});
  ASSERT_TRUE(turn.ok());
  std::string text = metrics_text(*held, around_);
  EXPECT_EQ(value_of(text, "partita_jobs_ended_total{state=\"failed\"}"), 1);
  EXPECT_EQ(value_of(text, "partita_user_jobs_total{uid=\"1000\",user=\"1000\"}"), 1);
  EXPECT_EQ(value_of(text, "partita_user_slice_seconds_total{uid=\"1000\",user=\"1000\"}"), 2);
  EXPECT_EQ(value_of(text,
                     "partita_user_energy_joules_total{uid=\"1000\",user=\"1000\",method="
                     "\"estimated\"}"),
            77.75);
  EXPECT_EQ(value_of(text, "partita_job_wait_seconds_bucket{le=\"1\"}"), 1);
  EXPECT_EQ(value_of(text, "partita_job_wait_seconds_count"), 1);
  EXPECT_EQ(value_of(text, "partita_deadline_misses_total"), 0);

  // Two more end, so that the first is forgotten, and the daemon is started anew.
  const auto ann = parse_submission(R"({"argv":["x"],"directory":"/","name":"x","array":2})");
  control::Submit two = *ann;
  two.owner = {kAnn, kAnn};
  held->step(Micros{1'700'000'201'000'000}, std::vector<control::Input>{control::Input(two)});
  const control::Turn last = held->step(
      Micros{1'700'000'202'000'000},
      std::vector<control::Input>{control::Input(control::CancelJobs{1, {{2}, {3}}, {}}),
                                  control::Input(control::Remark{"xid", "GPU 0 Xid 43"})});
  EXPECT_EQ(held->jobs().size(), 1U);
  store::Contents later;
  later.totals = turn->batch.totals;
  for (const auto& [key, value] : held->totals().all()) {
    later.totals.push_back({key.first, key.second, value});
  }
  EXPECT_FALSE(last.batch.totals.empty());
  auto again = make();
  ASSERT_TRUE(again->restore(Micros{1'700'000'300'000'000}, later, {}, {}).ok());
  text = metrics_text(*again, around_);
  EXPECT_EQ(value_of(text, "partita_jobs_ended_total{state=\"failed\"}"), 1);
  EXPECT_EQ(value_of(text, "partita_jobs_ended_total{state=\"cancelled\"}"), 2);
  EXPECT_EQ(value_of(text, "partita_jobs_submitted_total"), 3);
  EXPECT_EQ(value_of(text, "partita_xid_errors_total{gpu=\"0\",xid=\"43\"}"), 1);
}

}  // namespace
}  // namespace partita::api
