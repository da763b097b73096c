// Lists of jobs, and what is done to many of them.
#include "api/job_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/service_fixture.h"

namespace partita::api {
namespace {

using Json = nlohmann::json;
using test::kAnn;
using test::kBob;
using test::ServiceTest;

// Jobs 2 to 4: two more of Ann's that are called train, and one of Bob's.
class JobListTest : public ServiceTest {
 protected:
  JobListTest() {
    around_.uid_of = [](const std::string& name) {
      return name == "ann" ? std::optional<std::uint32_t>(kAnn) : std::nullopt;
    };
    around_.user_name = [](std::uint32_t uid) {
      return uid == kAnn ? std::string("ann") : std::to_string(uid);
    };
    submit(kAnn, R"({"argv":["x"],"directory":"/","name":"train","array":2})");
    submit(kBob, R"({"argv":["/bin/sleep","1"],"directory":"/"})");
  }

  std::vector<int> listed(std::uint32_t uid, const std::string& query) {
    std::vector<int> ids;
    const Json page = Json::parse(body(uid, "/v1/jobs" + query));
    for (const Json& job : page["jobs"]) {
      ids.push_back(job["id"].get<int>());
    }
    return ids;
  }
  using Ids = std::vector<int>;
};

TEST_F(JobListTest, ThoseThatWaitLongestComeFirstAndEndedOnesLast) {
  EXPECT_EQ(listed(0, ""), (Ids{1, 2, 3, 4}));
  answer(kAnn, "DELETE", "/v1/jobs/1");
  answer(kAnn, "DELETE", "/v1/jobs/2");
  EXPECT_EQ(listed(0, ""), (Ids{3, 4, 2, 1}));
}

TEST_F(JobListTest, PagesTogetherAreTheWholeListAndSayWhatFollows) {
  answer(kAnn, "DELETE", "/v1/jobs/2");
  Ids all;
  std::string after;
  for (int pages = 0; pages < 9; ++pages) {
    const Json page = Json::parse(body(0, "/v1/jobs?limit=1" + after));
    EXPECT_EQ(page["total"], 4);
    ASSERT_EQ(page["jobs"].size(), 1U);
    all.push_back(page["jobs"][0]["id"].get<int>());
    EXPECT_EQ(page["more"].get<bool>(), page["after"].is_string());
    if (!page["more"].get<bool>()) break;
    after = "&after=" + page["after"].get<std::string>();
  }
  EXPECT_EQ(all, (Ids{1, 3, 4, 2}));
}

TEST_F(JobListTest, FiltersAreOfUserStateAndName) {
  EXPECT_EQ(listed(kBob, "?user=ann"), (Ids{1, 2, 3}));
  EXPECT_EQ(listed(kAnn, "?user=1001"), (Ids{4}));
  EXPECT_EQ(listed(kAnn, "?name=train"), (Ids{2, 3}));
  EXPECT_EQ(listed(0, "?name=train&user=%61nn"), (Ids{2, 3}));
  answer(kAnn, "DELETE", "/v1/jobs/2");
  EXPECT_EQ(listed(0, "?state=cancelled"), (Ids{2}));
  EXPECT_EQ(listed(0, "?state=cancelled,queued"), (Ids{1, 3, 4, 2}));
  EXPECT_EQ(listed(0, "?state=active&name=train"), (Ids{3}));
}

TEST_F(JobListTest, NamesOfOthersJobsCannotBeAskedFor) {
  EXPECT_EQ(listed(kBob, "?name=train"), Ids{});
  EXPECT_EQ(Json::parse(body(kBob, "/v1/jobs?name=train"))["total"], 0);
}

TEST_F(JobListTest, WhatIsNotUnderstoodIsRefusedAndNotGuessed) {
  for (const char* query : {"?limit=abc", "?limit=0", "?limit=-1", "?limit=10001", "?limit=1.5",
                            "?state=wild", "?state=queued,,", "?user=nobodyknows", "?after=12",
                            "?after=queued.x", "?after=wild.3", "?limit=99999999999999999999"}) {
    EXPECT_EQ(status(kAnn, "GET", std::string("/v1/jobs") + query), 400) << query;
  }
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs/1/output?offset=abc"), 400);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs/1/output?offset=3"), 200);
}

TEST_F(JobListTest, UsersHaveNamesAndJobsWithoutANameHaveThatOfTheirProgram) {
  const Json page = Json::parse(body(0, "/v1/jobs"));
  EXPECT_EQ(page["jobs"][0]["user"], "ann");
  EXPECT_EQ(page["jobs"][0]["name"], "secret-program");
  EXPECT_EQ(page["jobs"][3]["user"], "1001");
  EXPECT_EQ(page["jobs"][3]["name"], "sleep");
  EXPECT_TRUE(page["jobs"][3]["slice"].is_null());
}

TEST_F(JobListTest, ManyAreCancelledByOneRequestAndTheOthersAreNamed) {
  answer(kAnn, "DELETE", "/v1/jobs/1");
  const Json said =
      Json::parse(answer(kAnn, "POST", "/v1/jobs/cancel", R"({"jobs":[3,2,4,77,3]})").body);
  EXPECT_EQ(said["jobs"], Json::parse("[2,3]"));
  ASSERT_EQ(said["refused"].size(), 2U);
  EXPECT_EQ(said["refused"][0]["job"], 4);
  EXPECT_EQ(said["refused"][0]["code"], 403);
  EXPECT_EQ(said["refused"][0]["message"], "job 4 belongs to somebody else");
  EXPECT_EQ(said["refused"][1]["code"], 404);
  EXPECT_EQ(listed(0, "?state=active"), (Ids{4}));
}

TEST_F(JobListTest, CancellingByFilterStopsOnlyWhatTheCallerMay) {
  const auto cancelled = [&](std::uint32_t uid, const char* text) {
    return Json::parse(answer(uid, "POST", "/v1/jobs/cancel", text).body)["jobs"];
  };
  EXPECT_EQ(cancelled(kBob, R"({"user":"ann"})"), Json::array());
  EXPECT_EQ(cancelled(kAnn, R"({"name":"train","state":"queued"})"), Json::parse("[2,3]"));
  EXPECT_EQ(cancelled(kBob, R"({"state":"active"})"), Json::parse("[4]"));
  EXPECT_EQ(cancelled(0, R"({"user":"ann"})"), Json::parse("[1]"));
}

TEST_F(JobListTest, ARequestToCancelSaysWhich) {
  for (const char* bad : {"{}", R"({"jobs":[]})", R"({"jobs":[1],"user":"ann"})", R"({"jobs":[0]})",
                          R"({"jobs":[1.5]})", R"({"jobs":"1-3"})", R"({"state":"wild"})",
                          R"({"user":"who"})", R"({"name":3})", R"({"job":1})", "[1]"}) {
    EXPECT_EQ(status(kAnn, "POST", "/v1/jobs/cancel", bad), 400) << bad;
  }
}

TEST_F(JobListTest, ADeadlineThatHasPassedIsRefusedUnlessItWasInTimeBefore) {
  around_.now = [] { return Micros::seconds(1000); };
  const std::string late = R"({"argv":["x"],"directory":"/","key":"k","deadline_s":1000})";
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", late), 400);
  around_.now = [] { return Micros::seconds(999); };
  EXPECT_EQ(answer(kAnn, "POST", "/v1/jobs", late).status, 201);
  around_.now = [] { return Micros::seconds(1001); };
  EXPECT_EQ(answer(kAnn, "POST", "/v1/jobs", late).status, 201) << "sent again";
}

TEST_F(JobListTest, WhoIsNobodyOfThisMachineReadsAndSubmitsNothing) {
  Caller grafana{0xfffffffe, 0xfffffffe, true, Scope::kAdmin, "0badc0de", true};
  const auto code = [&](const char* method, const char* path, const std::string& text = "") {
    const Handled handled = service_.handle(request(method, path, text), grafana, 7);
    const auto* response = std::get_if<Response>(&handled);
    return response == nullptr ? 0 : response->status;
  };
  EXPECT_EQ(code("POST", "/v1/jobs", R"({"argv":["x"],"directory":"/"})"), 403);
  EXPECT_EQ(code("GET", "/v1/jobs"), 200);
  EXPECT_EQ(code("GET", "/metrics"), 200);
}

TEST_F(JobListTest, HeadIsAnsweredWhereGetIs) {
  EXPECT_EQ(status(kAnn, "HEAD", "/v1/status"), 200);
  EXPECT_EQ(status(kAnn, "HEAD", "/v1/jobs/1"), 200);
  EXPECT_EQ(status(kBob, "HEAD", "/v1/jobs/1"), 403);
  EXPECT_EQ(status(kAnn, "HEAD", "/v1/jobs/cancel"), 405);
  const Response refused = answer(kAnn, "PUT", "/v1/jobs");
  EXPECT_EQ(refused.headers.at(0),
            (std::pair<std::string, std::string>("Allow", "POST, GET, HEAD")));
}

}  // namespace
}  // namespace partita::api
