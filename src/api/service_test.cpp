#include "api/service.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace partita::api {
namespace {

using Json = nlohmann::json;

// A scheduler and a repartitioner that do nothing: the interface needs none.
class Idle : public decide::Scheduler {
 public:
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle) override {}
  void job_stopped(const decide::View&, cluster::JobHandle) override {}
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle) override {}
  void job_returned(const decide::View&, cluster::JobHandle) override {}
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View&, decide::Decision&) override {}
};
class Still : public decide::Repartitioner {
 public:
  std::vector<mig::Layout> initial_layouts(const decide::View&) override { return {mig::Layout{}}; }
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}
};

constexpr std::uint32_t kAnn = 1000;
constexpr std::uint32_t kBob = 1001;

class ServiceTest : public testing::Test {
 protected:
  ServiceTest()
      : controller_({}, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                    std::make_unique<Idle>(), std::make_unique<Still>()),
        service_(controller_, around_) {
    around_.events = [](std::int64_t, std::size_t) { return std::vector<store::EventRow>(); };
    around_.output = [](std::int64_t, std::uint64_t, std::size_t) { return std::string("out"); };
    around_.why_closed = [this] { return closed_; };
    EXPECT_TRUE(controller_.restore(Micros{1}, {}, {}, {}).ok());
    submit(kAnn, R"({"argv":["secret-program"],"directory":"/"})");
  }

  static Request request(const std::string& method, const std::string& path,
                         const std::string& body = "") {
    Request made;
    made.method = method;
    made.path = path.substr(0, path.find('?'));
    if (path.find('?') != std::string::npos) made.query = path.substr(path.find('?') + 1);
    made.body = body;
    return made;
  }
  static Caller caller(std::uint32_t uid) { return {uid, uid, uid == 0}; }

  // The status of an answer; 0 when it goes to the controller.
  int status(std::uint32_t uid, const std::string& method, const std::string& path,
             const std::string& body = "") {
    const Handled handled = service_.handle(request(method, path, body), caller(uid), 7);
    const auto* answer = std::get_if<Answer>(&handled);
    return answer == nullptr ? 0 : answer->status;
  }
  std::string body(std::uint32_t uid, const std::string& path) {
    const Handled handled = service_.handle(request("GET", path), caller(uid), 7);
    return std::get<Answer>(handled).body;
  }
  control::Reply submit(std::uint32_t uid, const std::string& text) {
    Handled handled = service_.handle(request("POST", "/v1/jobs", text), caller(uid), 7);
    const std::vector<control::Input> inputs{std::get<control::Input>(std::move(handled))};
    return controller_.step(Micros{2}, inputs).replies.at(0);
  }

  Surroundings around_;
  std::string closed_;
  control::Controller controller_;
  Service service_;
};

TEST_F(ServiceTest, EveryRouteIsAllowedOrRefusedAsTheTableSays) {
  struct As {
    Role role;
    std::uint32_t uid;
  };
  for (const Route& route : routes()) {
    std::string path(route.path);
    const bool of_job = path.find("{id}") != std::string::npos;
    if (of_job) path.replace(path.find("{id}"), 4, "1");
    for (const As as : {As{Role::kAdmin, 0}, As{Role::kOwner, kAnn}, As{Role::kUser, kBob}}) {
      const int got =
          status(as.uid, std::string(route.method), path, R"({"argv":["x"],"directory":"/"})");
      EXPECT_EQ(got == 403, !may(route, as.role)) << route.name << " as " << as.uid;
      if (may(route, as.role)) {
        EXPECT_TRUE(got == 0 || got == 200) << route.name << got;
      }
    }
  }
}

TEST_F(ServiceTest, OthersJobsShowNothingButNumberOwnerStateAndTimes) {
  const std::string seen = body(kBob, "/v1/jobs");
  EXPECT_EQ(seen.find("secret-program"), std::string::npos);
  EXPECT_NE(body(kAnn, "/v1/jobs").find("secret-program"), std::string::npos);
  const store::EventRow event{1, 1, 1, "submitted", "secret"};
  EXPECT_FALSE(service_.event_text(event, caller(kBob)));
  EXPECT_TRUE(service_.event_text(event, caller(kAnn)));
}

TEST_F(ServiceTest, TheOwnerIsWhoTheKernelSaysWhateverTheBodySays) {
  EXPECT_EQ(status(kBob, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/","uid":0})"), 400);
  const control::Reply reply = submit(kBob, R"({"argv":["x"],"directory":"/"})");
  EXPECT_EQ(controller_.find(reply.jobs.at(0))->owner.uid, kBob);
}

TEST_F(ServiceTest, TheDocumentNamesExactlyTheRoutesOfTheTable) {
  const Json document = Json::parse(openapi_document("1"));
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    EXPECT_EQ(document["paths"][std::string(route.path)][method]["operationId"], route.name);
  }
}

TEST_F(ServiceTest, PathsThatAreNotInTheTableDoNotExist) {
  for (const char* path : {"/", "/v1", "/v1/jobs/", "/v1/jobs/0", "/v1/jobs/-1", "/v1/jobs/01",
                           "/v1/jobs/1/..", "/v1/jobs/../../etc/passwd", "/v1/jobs/%2e%2e",
                           "/v1/jobs/1/output/x", "/v2/jobs", "/v1/jobs/99999999999999999999"}) {
    EXPECT_EQ(status(0, "GET", path), 404) << path;
  }
  EXPECT_EQ(status(0, "PUT", "/v1/jobs"), 405);
}

TEST_F(ServiceTest, BadBodiesAreRefusedWithASentence) {
  for (const char* bad :
       {"", "[]", "{", R"({"argv":"x","directory":"/"})", R"({"argv":[1],"directory":"/"})",
        R"({"argv":["x"],"directory":"/","memory_gib":"10"})",
        R"({"argv":["x"],"directory":"/","times_s":{"5":1}})",
        R"({"argv":["x"],"directory":"/","times_s":{"1":0}})",
        R"({"argv":["x"],"directory":"/","deadline_s":-1})",
        R"({"argv":["x"],"directory":"/","array":0})",
        R"({"argv":["x"],"directory":"/","surprise":1})"}) {
    EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", bad), 400) << bad;
  }
  for (const char* bad :
       {R"({"argv":[],"directory":"/"})", R"({"argv":["x"],"directory":"relative"})",
        R"({"argv":["x"],"directory":"/","name":"a b"})",
        R"({"argv":["x\u0000y"],"directory":"/"})",
        R"({"argv":["x"],"directory":"/","env":["NOVALUE"]})",
        R"({"argv":["x"],"directory":"/","env":["LD_PRELOAD=x"]})",
        R"({"argv":["x"],"directory":"/","env":["CUDA_VISIBLE_DEVICES=0"]})",
        R"({"argv":["x"],"directory":"/","memory_gib":41})",
        R"({"argv":["x"],"directory":"/","array":10001})"}) {
    const control::Reply reply = submit(kAnn, bad);
    EXPECT_EQ(reply.kind, control::Reply::Kind::kRefused) << bad;
    EXPECT_FALSE(reply.message.empty());
  }
}

TEST_F(ServiceTest, AClosedDaemonTakesNoJobsAndStillAnswers) {
  closed_ = "the disk is full";
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/"})"), 503);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs/1"), 200);
}

TEST_F(ServiceTest, AFullQueueIsRefusedAndToldWhenToComeBack) {
  control::Options options;
  options.limits.queue_jobs_max = 2;
  control::Controller small(options, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                            std::make_unique<Idle>(), std::make_unique<Still>());
  ASSERT_TRUE(small.restore(Micros{1}, {}, {}, {}).ok());
  const Result<control::Submit> submit =
      parse_submission(R"({"argv":["x"],"directory":"/","name":"x"})");
  ASSERT_TRUE(submit.ok());
  const std::vector<control::Input> three(3, control::Input(*submit));
  const control::Turn turn = small.step(Micros{2}, three);
  EXPECT_EQ(service_.answer_to(turn.replies.at(1)).status, 201);
  EXPECT_EQ(service_.answer_to(turn.replies.at(2)).status, 429);
  EXPECT_EQ(small.jobs().size(), 2U);
  EXPECT_EQ(turn.batch.new_jobs.size(), 2U);
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

}  // namespace
}  // namespace partita::api
