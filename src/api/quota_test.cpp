#include <nlohmann/json.hpp>

#include "api/service_fixture.h"

namespace partita::api {
namespace {

using test::kAnn;
using test::kBob;
using QuotaJson = nlohmann::ordered_json;

class QuotaRoute : public testing::Test {
 protected:
  QuotaRoute()
      : controller_(options(), **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                    std::make_unique<test::Idle>(), std::make_unique<test::Still>()),
        service_(controller_, around_) {
    around_.why_closed = [] { return std::string(); };
    around_.user_name = [](std::uint32_t uid) { return uid == kBob ? "bob" : "somebody"; };
    around_.uid_of = [](const std::string& name) -> std::optional<std::uint32_t> {
      if (name == "bob") return kBob;
      return {};
    };
    EXPECT_TRUE(controller_.restore(Micros{1}, {}, {}, {}).ok());
  }

  static control::Options options() {
    control::Options options;
    control::QuotaAmounts slices;
    slices.slices = 7;
    control::QuotaAmounts jobs;
    jobs.jobs = 2;
    jobs.gpu_hours = 1.5;
    options.quotas.rules = {{control::QuotaHolder::kUser, "ann", kAnn, slices},
                            {control::QuotaHolder::kGroup, "students", kAnn, slices},
                            {control::QuotaHolder::kDefault, "", 0, jobs}};
    return options;
  }
  Response ask(std::uint32_t uid, const std::string& query = "") {
    Request request;
    request.method = "GET";
    request.path = "/v1/quota";
    request.query = query;
    return std::get<Response>(service_.handle(request, {uid, uid, uid == 0}, 7));
  }
  // "user ann", and so on.
  std::vector<std::string> holders(std::uint32_t uid, const std::string& query = "") {
    std::vector<std::string> names;
    const QuotaJson json = QuotaJson::parse(ask(uid, query).body);
    for (const QuotaJson& each : json["holders"]) {
      names.push_back(each["holder"].get<std::string>() + " " + each["name"].get<std::string>());
    }
    return names;
  }
  int submit(std::uint32_t uid) {
    Request request;
    request.method = "POST";
    request.path = "/v1/jobs";
    request.body = R"({"argv":["x"],"directory":"/"})";
    Handled handled = service_.handle(request, {uid, uid, uid == 0}, 7);
    const std::vector<control::Input> inputs{std::get<control::Input>(std::move(handled))};
    return service_.response_to(controller_.step(Micros{2}, inputs).replies.at(0)).status;
  }

  Surroundings around_;
  control::Controller controller_;
  Service service_;
};

using QuotaNames = std::vector<std::string>;

TEST_F(QuotaRoute, ShowsUsersTheirOwnLinesAndAdminsAll) {
  EXPECT_EQ(holders(kAnn), (QuotaNames{"user ann", "group students"}));
  EXPECT_EQ(holders(kBob), (QuotaNames{"user bob"})) << "under the line for all others";
  EXPECT_EQ(submit(kBob), 201);
  EXPECT_EQ(holders(0), (QuotaNames{"user ann", "user bob", "group students"}));
  EXPECT_EQ(holders(0, "user=bob"), (QuotaNames{"user bob"}));
  EXPECT_EQ(holders(kBob, "user=bob"), (QuotaNames{"user bob"}));
  EXPECT_EQ(ask(kBob, "user=1000").status, 403);
  EXPECT_EQ(ask(kBob, "user=nobody-here").status, 400);
}

TEST_F(QuotaRoute, SaysWhatIsUsedOfWhat) {
  submit(kBob);
  const QuotaJson json = QuotaJson::parse(ask(kBob).body);
  EXPECT_EQ(json["any"], true);
  EXPECT_EQ(json["period"], "week");
  const QuotaJson& amounts = json["holders"][0]["amounts"];
  EXPECT_EQ(amounts[0]["amount"], "jobs");
  EXPECT_EQ(amounts[0]["used"], 1);
  EXPECT_EQ(amounts[0]["most"], 2);
  EXPECT_EQ(amounts[1]["amount"], "gpu-hours");
  EXPECT_EQ(amounts[1]["most"], 1.5);
}

TEST_F(QuotaRoute, ASubmissionBeyondTheJobsIsAnsweredWith429) {
  EXPECT_EQ(submit(kBob), 201);
  EXPECT_EQ(submit(kBob), 201);
  EXPECT_EQ(submit(kBob), 429);
  EXPECT_EQ(submit(kAnn), 201);
}

}  // namespace
}  // namespace partita::api
