#include "api/service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/service_fixture.h"
#include "api/submission.h"

namespace partita::api {
namespace {

using Json = nlohmann::json;
using test::body_for;
using test::kAnn;
using test::kBob;
using test::ServiceTest;
using test::some_contents;

TEST_F(ServiceTest, EveryRouteIsAllowedOrRefusedAsTheTableSays) {
  struct As {
    Role role;
    std::uint32_t uid;
  };
  for (const Route& route : routes()) {
    std::string path(route.path);
    const bool of_job = path.find("{id}") != std::string::npos;
    if (of_job) path.replace(path.find("{id}"), 4, "1");
    if (path.find("{gpu}") != std::string::npos) path.replace(path.find("{gpu}"), 5, "0");
    for (const As as : {As{Role::kAdmin, 0}, As{Role::kOwner, kAnn}, As{Role::kUser, kBob}}) {
      const int got = status(as.uid, std::string(route.method), path, body_for(route));
      EXPECT_EQ(got == 403, !may(route, as.role)) << route.name << " as " << as.uid;
      if (may(route, as.role)) {
        EXPECT_TRUE(got == 0 || got == 200) << route.name << got;
      }
    }
  }
}

// Every route, as each role, with each scope: allowed exactly where both tables say so.
TEST_F(ServiceTest, ATokenMayDoWhatItsScopeAndItsUserMayAndNothingElse) {
  for (const Route& route : routes()) {
    std::string path(route.path);
    if (path.find("{id}") != std::string::npos) path.replace(path.find("{id}"), 4, "1");
    if (path.find("{gpu}") != std::string::npos) path.replace(path.find("{gpu}"), 5, "0");
    for (const std::uint32_t uid : {std::uint32_t{0}, kAnn, kBob}) {
      for (const Scope scope : {Scope::kRead, Scope::kSubmit, Scope::kAdmin}) {
        const bool admin = scope == Scope::kAdmin;
        const Role role = admin ? Role::kAdmin : uid == kAnn ? Role::kOwner : Role::kUser;
        const Caller holder{uid, uid, admin, scope, "0badc0de"};
        const Handled handled =
            service_.handle(request(std::string(route.method), path, body_for(route)), holder, 7);
        const auto* response = std::get_if<Response>(&handled);
        const int got = response == nullptr ? 0 : response->status;
        const bool writes = route.method != "GET";
        EXPECT_EQ(writes, route.scope >= Scope::kSubmit) << route.name;
        const bool allowed = may(route, role) && scope >= route.scope;
        EXPECT_EQ(got != 403, allowed) << route.name << " uid " << uid << " " << name_of(scope);
        EXPECT_TRUE(!allowed || got == 0 || got == 200) << route.name << got;
        EXPECT_TRUE(!writes || scope != Scope::kRead || got == 403) << route.name << got;
      }
    }
  }
}

TEST_F(ServiceTest, OnlyAdminsRaiseAPriorityAndAllMayLowerTheirs) {
  const auto body_with = [](const std::string& priority) {
    return R"({"argv":["x"],"directory":"/","priority":)" + priority + "}";
  };
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", body_with("1")), 403);
  EXPECT_EQ(status(0, "POST", "/v1/jobs", body_with("1")), 0);
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", body_with("-3")), 0);
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", body_with("0")), 0);
  for (const char* wrong : {"1.5", "-1000001", "\"high\"", "true"}) {
    EXPECT_EQ(status(0, "POST", "/v1/jobs", body_with(wrong)), 400) << wrong;
  }
}

TEST_F(ServiceTest, AGpuThatIsNotThereCannotBeDrained) {
  EXPECT_EQ(status(0, "POST", "/v1/gpus/0/drain"), 0);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/1/drain"), 404);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/4294967296/drain"), 404);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/-1/drain"), 404);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/0/drain?reason=" + std::string(256, 'x')), 0);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/0/drain?reason=" + std::string(257, 'x')), 400);
  for (const char* wrong : {"%", "%2", "%zz", "a%0A", "%2x"}) {
    EXPECT_EQ(status(0, "POST", std::string("/v1/gpus/0/drain?reason=") + wrong), 400) << wrong;
  }
  const Handled handled =
      service_.handle(request("POST", "/v1/gpus/0/drain?reason=8%20%25%2C%c3%BC"), caller(0), 7);
  EXPECT_EQ(std::get<control::DrainGpu>(std::get<control::Input>(handled)).reason, "8 %,ü");
}

TEST_F(ServiceTest, WhatIsWrongWithAReasonIsSaid) {
  const auto said = [&](const std::string& reason) {
    return answer(0, "POST", "/v1/gpus/0/drain?reason=" + reason).body;
  };
  EXPECT_NE(said("a%0Ab").find("the reason has a control character; wanted one line of text"),
            std::string::npos)
      << said("a%0Ab");
  EXPECT_NE(said(std::string(257, 'x')).find("the reason has 257 bytes"), std::string::npos);
}

TEST_F(ServiceTest, AParameterThatIsUnknownOrGivenTwiceIsRefused) {
  const Response unknown = answer(kAnn, "GET", "/v1/jobs?limit=3&nosuch=1");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.body.find("the parameter 'nosuch' is unknown; known: state, user, name, "
                              "limit, after"),
            std::string::npos)
      << unknown.body;
  EXPECT_NE(body(kAnn, "/v1/share?x").find("'x' is unknown; this path takes none"),
            std::string::npos);
  EXPECT_NE(body(kAnn, "/v1/jobs?limit=3&limit=4").find("limit is given twice"), std::string::npos);
  EXPECT_EQ(status(0, "POST", "/v1/gpus/0/resume?reason=x"), 400);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs?"), 200);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs?state=active&user=&limit=3&"), 200);
}

TEST_F(ServiceTest, AnUnknownFieldOfABodyIsNamed) {
  const auto said = [&](const std::string& name) {
    return answer(kAnn, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/",")" + name + R"(":1})")
        .body;
  };
  EXPECT_NE(said("prioritty").find(R"(the field \"prioritty\" is unknown; known: argv)"),
            std::string::npos)
      << said("prioritty");
  EXPECT_NE(said(std::string(1000, 'x')).find("the field whose name has 1000 bytes is unknown"),
            std::string::npos);
}

TEST_F(ServiceTest, OthersJobsShowNothingButNumberOwnerStateAndTimes) {
  const std::string seen = body(kBob, "/v1/jobs");
  EXPECT_EQ(seen.find("secret-program"), std::string::npos);
  EXPECT_NE(body(kAnn, "/v1/jobs").find("secret-program"), std::string::npos);
  const control::EventView event{1, Micros{1}, JobNumber{1}, "submitted", "secret"};
  EXPECT_FALSE(service_.event_text(event, caller(kBob)));
  EXPECT_TRUE(service_.event_text(event, caller(kAnn)));
}

// But for what they did not have: comments, user names, places and pages.
TEST_F(ServiceTest, WhatIsShownIsWhatOlderProgramsShowedInTheSameOrder) {
  control::Controller held({}, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                           std::make_unique<test::Idle>(), std::make_unique<test::Still>());
  ASSERT_TRUE(held.restore(Micros{1'700'000'003'000'000}, some_contents(), {}, {}).ok());
  const control::EventView event{7, Micros{1'700'000'000'000'000}, JobNumber{1}, "submitted",
                                 "needs 9.5 GiB"};
  const control::EventView of_none =
      control::view_of(store::EventRow{8, 1'700'000'000'000'001, kNoJob, "foreign", "left alone"});
  around_.events = [&](JobNumber, std::size_t) { return std::vector{event}; };
  const Service service(held, around_);
  const auto shown = [&](std::uint32_t uid, const char* path) {
    return std::get<Response>(service.handle(request("GET", path), caller(uid), 7)).body;
  };
  EXPECT_EQ(shown(kAnn, "/v1/jobs"),
            R"({"jobs":[{"id":1,"state":"failed","uid":1000,"submitted_s":1700000000.0,)"
            R"("changed_s":1700000002.5,"attempts":2,"user":"1000","gpu":null,"slice":null,)"
            R"("name":"train","reason":"exit status 3",)"
            R"("need_gib":9.5,"argv":["./train","--fast"],"comment":"a line","priority":null,)"
            R"("array_job":null,"array_index":null}],)"
            R"("total":1,"more":false,"after":null})");
  EXPECT_EQ(shown(kBob, "/v1/jobs"),
            R"({"jobs":[{"id":1,"state":"failed","uid":1000,"submitted_s":1700000000.0,)"
            R"("changed_s":1700000002.5,"attempts":2,"user":"1000","gpu":null,"slice":null}],)"
            R"("total":1,"more":false,"after":null})");
  EXPECT_EQ(shown(kAnn, "/v1/jobs/1"),
            R"({"id":1,"state":"failed","uid":1000,"submitted_s":1700000000.0,)"
            R"("changed_s":1700000002.5,"attempts":[{"number":1,"gpu":"GPU-0",)"
            R"("slice":"2g.10gb:4","instance":"MIG-1","started_s":1700000001.0,)"
            R"("ended_s":1700000001.5,"exit_code":null,"signal":9,"reason":"signal 9",)"
            R"("peak_gib":1.25,"energy_j_estimated":70.5},{"number":2,"gpu":"GPU-0",)"
            R"("slice":"2g.10gb:2","instance":"MIG-2","started_s":1700000002.0,)"
            R"("ended_s":1700000002.5,"exit_code":3,"signal":null,"reason":"exit status 3",)"
            R"("peak_gib":2.25,"energy_j_estimated":7.25}],"user":"1000","gpu":null,"slice":null,)"
            R"("name":"train",)"
            R"("reason":"exit status 3","need_gib":9.5,"argv":["./train","--fast"],)"
            R"("comment":"a line","priority":null,"array_job":null,"array_index":null,)"
            R"("memory_gib":9.5,"used_gib":null,"deadline_s":1700000100.0,)"
            R"("late_s":-97.5,)"
            R"("time_limit_s":60.0,"times_s":{"1":1200.0,"7":300.5},"checkpoint":["save"],)"
            R"("directory":"/tmp","output":null,"script":null,"after":[],"hold":false,)"
            R"("array_limit":null,"no_requeue":false,"no_early_restart":false,)"
            R"("energy_j_estimated":77.75,"waits":[],)"
            R"("events":[{"sequence":7,"at_s":1700000000.0,"job":1,"kind":"submitted",)"
            R"("text":"needs 9.5 GiB"}]})");
  EXPECT_EQ(*service.event_text(event, caller(kAnn)),
            "id: 7\nevent: submitted\ndata: {\"sequence\":7,\"at_s\":1700000000.0,\"job\":1,"
            "\"kind\":\"submitted\",\"text\":\"needs 9.5 GiB\"}\n\n");
  EXPECT_EQ(*service.event_text(of_none, caller(kBob)),
            "id: 8\nevent: foreign\ndata: {\"sequence\":8,\"at_s\":1700000000.000001,\"job\":null,"
            "\"kind\":\"foreign\",\"text\":\"left alone\"}\n\n");
  EXPECT_EQ(shown(kBob, "/v1/gpus"),
            R"({"gpus":[{"gpu":0,"uuid":"GPU-0","name":"A100","state":"usable","usable":true,)"
            R"("why_unusable":"","power_w":null,"energy_j":null,"utilisation":null,)"
            R"("temperature_c":null,"power_limit_w":null,"slices":[]}]})");
  EXPECT_EQ(shown(kBob, "/v1/status"),
            R"({"version":"","backend":"","policy":"","shadow":false,"closed":"",)"
            R"("jobs":{"queued":0,"starting":0,"running":0,"restarting":0,"cancelling":0,)"
            R"("done":0,"failed":1,"cancelled":0,"lost":0},"fragmentation":0.0,)"
            R"("disk":{"free_bytes":0,"full":false},"simulated":false})");
}

TEST_F(ServiceTest, AFullDiskIsShownAndSubmissionsAreRefusedWithItsSentence) {
  around_.disk = [] { return DiskView{4096, true}; };
  closed_ = "the disk of /state is full";
  const Handled handled = service_.handle(
      request("POST", "/v1/jobs", R"({"argv":["x"],"directory":"/"})"), caller(kAnn), 7);
  const auto& response = std::get<Response>(handled);
  EXPECT_EQ(response.status, 507);
  EXPECT_NE(response.body.find("the disk of /state is full"), std::string::npos);
  EXPECT_NE(to_bytes(response, true).find("507 Insufficient Storage"), std::string::npos);
  EXPECT_NE(to_bytes(response, true).find("Retry-After: "), std::string::npos);
  EXPECT_EQ(service_.response_to({7, control::Reply::Kind::kNoSpace, {}, closed_}).status, 507);
  EXPECT_NE(body(kAnn, "/v1/status").find(R"("disk":{"free_bytes":4096,"full":true})"),
            std::string::npos);
  const std::string figures = body(kAnn, "/metrics");
  EXPECT_NE(figures.find("\npartita_disk_full 1\n"), std::string::npos);
  EXPECT_NE(figures.find("\npartita_disk_free_bytes 4096\n"), std::string::npos);
}

TEST_F(ServiceTest, TheOwnerIsWhoTheKernelSaysWhateverTheBodySays) {
  EXPECT_EQ(status(kBob, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/","uid":0})"), 400);
  const control::Reply reply = submit(kBob, R"({"argv":["x"],"directory":"/"})");
  EXPECT_EQ(controller_.find(reply.jobs.at(0))->owner.uid, kBob);
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
        R"({"argv":["x"],"directory":"/","times_s":{"1":null}})",
        R"({"argv":["x"],"directory":"/","times_s":[1]})", R"({"argv":null,"directory":"/"})",
        R"({"argv":["x"],"directory":"/","deadline_s":-1})",
        R"({"argv":["x"],"directory":"/","array":0})",
        R"({"argv":["x"],"directory":"/","array":1.5})",
        R"({"argv":["x"],"directory":"/","array":10001})",
        R"({"argv":["x"],"directory":"/","surprise":1})"}) {
    EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", bad), 400) << bad;
  }
  for (const char* bad :
       {R"({"argv":[],"directory":"/"})", R"({"argv":["x"],"directory":"relative"})",
        R"({"argv":["x"],"directory":"/","name":"a b"})",
        R"({"argv":["x\u0000y"],"directory":"/"})",
        R"({"argv":["x"],"directory":"/","env":["NOVALUE"]})",
        R"({"argv":["x"],"directory":"/","env":["NVIDIA_VISIBLE_DEVICES=0"]})",
        R"({"argv":["x"],"directory":"/","env":["PARTITA_JOB=99"]})",
        R"({"argv":["x"],"directory":"/","env":["CUDA_VISIBLE_DEVICES=0"]})",
        R"({"argv":["x"],"directory":"/","memory_gib":41})"}) {
    const control::Reply reply = submit(kAnn, bad);
    EXPECT_EQ(reply.kind, control::Reply::Kind::kRefused) << bad;
    EXPECT_FALSE(reply.message.empty());
  }
}

TEST_F(ServiceTest, AClosedDaemonTakesNoJobsAndStillAnswers) {
  closed_ = "the disk is full";
  EXPECT_EQ(status(kAnn, "POST", "/v1/jobs", R"({"argv":["x"],"directory":"/"})"), 507);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs/1"), 200);
}

TEST_F(ServiceTest, WhoSubmitsTooOftenIsToldWhenToComeBackAndAdminsAreNot) {
  around_.wait_to_submit = [](std::uint32_t uid) {
    return uid == kAnn ? Micros{2'500'000} : Micros{};
  };
  const std::string text = R"({"argv":["x"],"directory":"/"})";
  const Handled handled = service_.handle(request("POST", "/v1/jobs", text), caller(kAnn), 7);
  const Response& response = std::get<Response>(handled);
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.at(0), (std::pair<std::string, std::string>("Retry-After", "3")));
  EXPECT_EQ(status(kBob, "POST", "/v1/jobs", text), 0);
  EXPECT_EQ(status(kAnn, "GET", "/v1/jobs"), 200) << "looking is not submitting";
  around_.wait_to_submit = [](std::uint32_t) { return Micros{1}; };
  EXPECT_EQ(status(0, "POST", "/v1/jobs", text), 0);
}

TEST_F(ServiceTest, JobsOfTheSystemsUsersAreRefusedWhereThatIsAskedFor) {
  const std::string text = R"({"argv":["x"],"directory":"/"})";
  for (const std::uint32_t uid : {0U, 1U, 999U, 65534U}) {
    EXPECT_EQ(status(uid, "POST", "/v1/jobs", text), 0) << uid;
  }
  around_.uid_min = 1000;
  for (const std::uint32_t uid : {0U, 1U, 999U, 65534U}) {
    EXPECT_EQ(status(uid, "POST", "/v1/jobs", text), 403) << uid;
  }
  EXPECT_EQ(status(1000, "POST", "/v1/jobs", text), 0);
}

TEST_F(ServiceTest, ATimeLimitIsASpanThatTheOperatorAllows) {
  const auto reply = [&](const std::string& limit, Micros most) {
    control::Options options;
    options.limits.time_limit_max = most;
    control::Controller held(options, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                             std::make_unique<test::Idle>(), std::make_unique<test::Still>());
    EXPECT_TRUE(held.restore(Micros{1}, {}, {}, {}).ok());
    const auto submit = parse_submission(
        R"({"argv":["x"],"directory":"/","name":"x","time_limit_s":)" + limit + "}");
    EXPECT_TRUE(submit.ok()) << limit;
    const std::vector<control::Input> inputs{control::Input(*submit)};
    return held.step(Micros{2}, inputs).replies.at(0).kind;
  };
  EXPECT_EQ(reply("3600", Micros::seconds(3600)), control::Reply::Kind::kAccepted);
  EXPECT_EQ(reply("3600.000001", Micros::seconds(3600)), control::Reply::Kind::kRefused);
  for (const char* bad : {"0", "-1", "1e9", "999999999", "316224000.5", "\"1h\"", "[]"}) {
    EXPECT_FALSE(parse_submission(std::string(R"({"argv":["x"],"directory":"/","time_limit_s":)") +
                                  bad + "}")
                     .ok())
        << bad;
  }
}

// 60 ways to write a way out of a folder, behind every route with a number: none is a route.
TEST_F(ServiceTest, NoWayOfWritingAPathLeadsOutOfTheTable) {
  std::vector<std::string> ways;
  for (const std::string up : {"..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "....",
                               "%c0%ae%c0%ae", "..;", "\xe2\x80\xa5"}) {
    for (const std::string slash : {"/", "%2f", "\\", "%5c", "//", "%252f"}) {
      ways.push_back(up + slash + up + slash + "etc" + slash + "passwd");
    }
  }
  ASSERT_EQ(ways.size(), 60U);
  ways.insert(ways.end(), {"/etc/passwd", std::string("1\0", 2), std::string(4000, '1'), "1%00",
                           "+1", " 1", "1 ", "0x1", "1e0", "1.0", "\xd9\xa1"});
  for (const Route& route : routes()) {
    const std::string path(route.path);
    const auto at = path.find("{id}");
    if (at == std::string::npos) continue;
    for (const std::string& way : ways) {
      for (const std::string& id : {way, "1/" + way}) {
        std::string tried = path;
        tried.replace(at, 4, id);
        EXPECT_EQ(status(0, std::string(route.method), tried), 404) << tried;
      }
    }
  }
}

// No field of a body, no header and no query makes a caller somebody else.
TEST_F(ServiceTest, ForgedIdentitiesChangeNothingOnAnyRoute) {
  for (const Route& route : routes()) {
    std::string path(route.path);
    if (path.find("{id}") != std::string::npos) path.replace(path.find("{id}"), 4, "1");
    for (const char* name : {"uid", "user", "owner", "admin", "role", "x-user", "x-forwarded-user",
                             "remote-user", "authorization", "partita-uid", "cookie"}) {
      // Whose jobs are listed may be asked for; what is shown of them is not more. Whose quotas
      // are as well, and those of others are refused (quota_test.cpp).
      const bool asks = route.id == RouteId::kListJobs || route.id == RouteId::kQuota;
      if (asks && std::string_view(name) == "user") continue;
      const Request plain = request(std::string(route.method), path, body_for(route));
      Request forged = plain;
      forged.headers.emplace_back(name, "0");
      const Handled with = service_.handle(forged, caller(kBob), 7);
      const Handled without = service_.handle(plain, caller(kBob), 7);
      ASSERT_EQ(with.index(), without.index()) << route.name << name;
      Request asked = plain;
      asked.query = std::string(name) + "=0";
      const Handled queried = service_.handle(asked, caller(kBob), 7);
      const auto* refused = std::get_if<Response>(&without);
      const bool before = refused != nullptr && refused->status >= 400;
      EXPECT_EQ(std::get<Response>(queried).status, before ? refused->status : 400)
          << route.name << name;
      if (const auto* response = std::get_if<Response>(&with)) {
        EXPECT_EQ(response->status, std::get<Response>(without).status) << route.name << name;
        EXPECT_EQ(response->body, std::get<Response>(without).body) << route.name << name;
      } else if (route.id == RouteId::kSubmit) {
        EXPECT_EQ(std::get<control::Submit>(std::get<control::Input>(with)).owner.uid, kBob);
        Request body = plain;
        body.body = std::string(R"({"argv":["x"],"directory":"/",")") + name + R"(":0})";
        EXPECT_EQ(std::get<Response>(service_.handle(body, caller(kBob), 7)).status, 400) << name;
      }
    }
  }
}

TEST_F(ServiceTest, AFullQueueIsRefusedAndToldWhenToComeBack) {
  control::Options options;
  options.limits.queue_jobs_max = 2;
  control::Controller small(options, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                            std::make_unique<test::Idle>(), std::make_unique<test::Still>());
  ASSERT_TRUE(small.restore(Micros{1}, {}, {}, {}).ok());
  const Result<control::Submit> submit =
      parse_submission(R"({"argv":["x"],"directory":"/","name":"x"})");
  ASSERT_TRUE(submit.ok());
  const std::vector<control::Input> three(3, control::Input(*submit));
  const control::Turn turn = small.step(Micros{2}, three);
  EXPECT_EQ(service_.response_to(turn.replies.at(1)).status, 201);
  EXPECT_EQ(service_.response_to(turn.replies.at(2)).status, 429);
  EXPECT_EQ(small.jobs().size(), 2U);
  EXPECT_EQ(turn.batch.new_jobs.size(), 2U);
}

// The GPU is idle and has no instance, so all that waits fits nowhere.
}  // namespace
}  // namespace partita::api
