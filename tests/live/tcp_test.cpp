// The daemon on TCP: who gets in, who does not, and what each may do there.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "api/routes.h"
#include "live/live_fixture.h"
#include "live/raw_call.h"

namespace partita::live_test {
namespace {

class Tcp : public Live {
 protected:
  bool start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"--listen", "tcp:127.0.0.1:0"};
    words.insert(words.end(), more.begin(), more.end());
    if (!daemon_.start(words)) return false;
    const std::string said = daemon_.said();
    const auto at = said.rfind("tokens on tcp:");
    if (at == std::string::npos) return false;
    address_ = said.substr(at + 10, said.find('\n', at) - at - 10);
    return true;
  }
  std::string state() const { return folder_.path() + "/state"; }
  Json token(const std::vector<std::string>& more) {
    std::vector<std::string> words{"token", "create", "--json", "--state", state()};
    words.insert(words.end(), more.begin(), more.end());
    return Json::parse(printed(words));
  }
  std::string secret(const std::string& scope, const std::string& user = "") {
    std::vector<std::string> words{"--scope", scope};
    if (!user.empty()) words.insert(words.end(), {"--user", user});
    return token(words)["token"];
  }
  std::string host() const { return "Host: " + address_.substr(4); }
  int status(const std::string& token, const std::string& method, const std::string& path,
             const std::string& body = "") {
    return raw_call(address_,
                    request_text(method, path, {host(), "Authorization: Bearer " + token}, body))
        .status;
  }

  std::string address_;
};

TEST_F(Tcp, ItIsOffByDefaultAndOnlyTheMachineItselfIsEverServed) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_EQ(daemon_.said().find("tcp:"), std::string::npos);
  for (const char* place : {"tcp:0.0.0.0:0", "tcp:192.0.2.1:7070", "tcp:[::]:7070"}) {
    EXPECT_NE(printed({"serve", "--state", state(), "--listen", place}, 2).find("loopback"),
              std::string::npos);
  }
}

TEST_F(Tcp, WithoutAGoodTokenNothingIsSaid) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string good = secret("admin");
  for (const api::Route& route : api::routes()) {
    std::string path(route.path);
    if (path.find("{id}") != std::string::npos) path.replace(path.find("{id}"), 4, "1");
    const std::string method(route.method);
    for (const std::string& bad : {std::string(), std::string("x"), good.substr(1), good + "0",
                                   "partita_" + std::string(64, '0')}) {
      EXPECT_EQ(status(bad, method, path), 401) << route.name << " " << bad;
    }
    EXPECT_EQ(raw_call(address_, request_text(method, path, {host()})).status, 401) << route.name;
    // The unix socket takes no token for a name: who calls is who the kernel says.
    EXPECT_NE(raw_call(daemon_.socket(), request_text(method, path, {})).status, 401);
  }
  const RawAnswer answer = raw_call(address_, request_text("GET", "/v1/status", {host()}));
  EXPECT_NE(answer.head.find("WWW-Authenticate: Bearer"), std::string::npos);
  EXPECT_EQ(answer.body.find("a100"), std::string::npos);
}

// Routes by roles by scopes, over the wire: what the two tables allow, and nothing else.
TEST_F(Tcp, EveryRouteIsAllowedOrRefusedAsTheTablesSay) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string own = std::to_string(::getuid());
  const std::string body = submission({"/bin/true"}, "matrix");
  ASSERT_EQ(raw_call(daemon_.socket(), request_text("POST", "/v1/jobs", {}, body)).status, 201);
  struct As {
    std::string user;
    api::Role role;
  };
  for (const As& as : {As{own, api::Role::kOwner}, As{"nobody", api::Role::kUser}}) {
    for (const std::string& scope : api::scope_names()) {
      const std::string shown = secret(scope, as.user);
      const api::Role role = scope == "admin" ? api::Role::kAdmin : as.role;
      for (const api::Route& route : api::routes()) {
        std::string path(route.path);
        if (path.find("{id}") != std::string::npos) path.replace(path.find("{id}"), 4, "1");
        if (path.find("{gpu}") != std::string::npos) path.replace(path.find("{gpu}"), 5, "0");
        const int got = status(shown, std::string(route.method), path, body);
        const bool allowed = api::may(route, role) && *api::scope_of(scope) >= route.scope;
        EXPECT_EQ(got != 403, allowed) << route.name << " " << as.user << " " << scope << got;
        EXPECT_NE(got, 401) << route.name;
      }
    }
  }
}

TEST_F(Tcp, AJobBelongsToTheUserOfTheTokenWhateverTheBodySays) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string shown = secret("submit", "nobody");
  for (const char* field : {"uid", "owner", "user", "gid", "admin"}) {
    Json body = Json::parse(submission({"/bin/true"}, "forged"));
    body[field] = 0;
    EXPECT_EQ(status(shown, "POST", "/v1/jobs", body.dump()), 400) << field;
  }
  ASSERT_EQ(status(shown, "POST", "/v1/jobs", submission({"/bin/true"}, "own")), 201);
  EXPECT_EQ(daemon_.get("/v1/jobs/1")["uid"], 65534);
}

TEST_F(Tcp, RevokedAndExpiredTokensAreNoLongerGoodAtOnce) {
  ASSERT_TRUE(start()) << daemon_.said();
  const Json kept = token({"--scope", "read"});
  const Json made = token({"--scope", "read"});
  const Json brief = token({"--scope", "read", "--expires", "1"});
  EXPECT_EQ(status(made["token"], "GET", "/v1/status"), 200);
  const int follower = connect_to(address_);
  const std::string shown = made["token"];
  ASSERT_EQ(raw_call(follower,
                     request_text("GET", "/v1/events", {host(), "Authorization: Bearer " + shown}))
                .status,
            200);
  printed({"token", "revoke", made["id"], "--state", state()});
  EXPECT_EQ(status(made["token"], "GET", "/v1/status"), 401);
  EXPECT_EQ(status(kept["token"], "GET", "/v1/status"), 200);
  std::array<char, 512> rest{};  // who follows events with it is shut out too
  while (::recv(follower, rest.data(), rest.size(), 0) > 0) {
  }
  ::close(follower);
  ::sleep(2);
  EXPECT_EQ(status(brief["token"], "GET", "/v1/status"), 401);
  const Json list = Json::parse(printed({"token", "list", "--json", "--state", state()}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["expired"], false);
  EXPECT_EQ(list[1]["expired"], true);
  printed({"token", "revoke", "00000000", "--state", state()}, 1);
}

TEST_F(Tcp, RebindingAndForeignPagesAreRefusedEvenWithATokenThatIsGood) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string bearer = "Authorization: Bearer " + secret("admin");
  const auto got = [&](const std::string& method, std::vector<std::string> headers) {
    headers.push_back(bearer);
    return raw_call(address_, request_text(method, "/v1/status", headers)).status;
  };
  EXPECT_EQ(got("GET", {host()}), 200);
  EXPECT_EQ(got("GET", {"Host: rebound.example" + address_.substr(13)}), 403);
  EXPECT_EQ(got("GET", {}), 403);
  EXPECT_EQ(got("GET", {host(), "Origin: http://evil.example"}), 403);
  EXPECT_EQ(got("GET", {host(), "Origin: null"}), 403);
  EXPECT_EQ(got("OPTIONS",
                {host(), "Origin: http://evil.example", "Access-Control-Request-Method: POST"}),
            403);
}

TEST_F(Tcp, ATokenIsShownOnceAndKeptNowhere) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string file = folder_.path() + "/token";
  const std::string shown = secret("submit");
  {
    std::ofstream out(file);
    out << shown << "\n";
  }
  const std::string id =
      printed({"submit", "--socket", address_, "--token-file", file, "--", "/usr/bin/env"});
  printed({"wait", "1", "--socket", address_, "--token-file", file});
  EXPECT_EQ(id, "1\n");
  printed({"queue", "--socket", address_, "--token-file", folder_.path() + "/none"}, 2);
  printed({"queue", "--socket", address_}, 4);
  struct stat tokens {};
  ASSERT_EQ(::stat((state() + "/tokens").c_str(), &tokens), 0);
  EXPECT_EQ(tokens.st_mode & 0777U, 0600U);
  daemon_.stop();
  const std::string bare = shown.substr(8);
  EXPECT_EQ(daemon_.said().find(bare), std::string::npos);
  for (const auto& each : std::filesystem::recursive_directory_iterator(state())) {
    if (!each.is_regular_file()) continue;
    EXPECT_EQ(read(each.path()).find(bare), std::string::npos) << each.path();
  }
}

// Grafana is no user of the machine, and needs none to read what there is to see.
TEST_F(Tcp, ATokenOfNobodyOfThisMachineReadsAndRunsNothing) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string body = submission({"/bin/true"}, "none");
  for (const std::string scope : {"read", "admin"}) {
    const std::string path = folder_.path() + "/token";
    std::filesystem::remove(path);
    // Without --json, and with a warning beside it: the last line is the token.
    const std::string said =
        printed({"token", "create", "--state", state(), "--user", "grafana", "--scope", scope});
    EXPECT_NE(said.find("grafana is no user of this machine"), std::string::npos) << said;
    const auto at = said.find("partita_");
    ASSERT_NE(at, std::string::npos) << said;
    const std::string shown = said.substr(at, said.find('\n', at) - at);
    EXPECT_EQ(status(shown, "GET", "/metrics"), 200);
    EXPECT_EQ(status(shown, "GET", "/v1/jobs"), 200);
    EXPECT_EQ(status(shown, "POST", "/v1/jobs", body), 403);
  }
  const Json listed = Json::parse(printed({"token", "list", "--json", "--state", state()}));
  EXPECT_EQ(listed[0]["user"], "grafana");
  EXPECT_TRUE(listed[0]["uid"].is_null());
}

TEST_F(Tcp, WhatTheVerbDoesNotKnowIsNamed) {
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "token");
    return printed(std::move(words), 2);
  };
  EXPECT_NE(refused({"create", "--state", state()}).find("no state folder"), std::string::npos);
  std::filesystem::create_directory(state());
  EXPECT_NE(refused({"create", "--state", state(), "--user", "no-such-user", "--scope", "submit"})
                .find("no-such-user"),
            std::string::npos);
  EXPECT_NE(refused({"create", "--state", state(), "--user", "4000000"}).find("no user '4000000'"),
            std::string::npos);
  EXPECT_NE(refused({"create", "--state", state(), "--scope", "all"}).find("read, submit, admin"),
            std::string::npos);
  EXPECT_NE(refused({"create", "--state", state(), "--expires", "soon"}).find("a time such as"),
            std::string::npos);
  EXPECT_NE(refused({"revoke", "--state", state()}).find("ID"), std::string::npos);
  EXPECT_NE(refused({"--state", state()}).find("create, list or revoke"), std::string::npos);
  EXPECT_EQ(Json::parse(printed({"token", "list", "--json", "--state", state()})), Json::array());
}

TEST_F(Tcp, AFileOfTokensThatOthersCouldReadOrThatIsDamagedLetsNobodyIn) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::string shown = secret("read");
  const std::string path = state() + "/tokens";
  ASSERT_EQ(status(shown, "GET", "/v1/status"), 200);
  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(status(shown, "GET", "/v1/status"), 401);
  EXPECT_NE(daemon_.said().find("0600"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(status(shown, "GET", "/v1/status"), 200);
  {
    std::ofstream out(path, std::ios::app);
    out << "rubbish\n";
  }
  EXPECT_EQ(status(shown, "GET", "/v1/status"), 401);
  EXPECT_EQ(raw_call(daemon_.socket(), request_text("GET", "/v1/status", {})).status, 200);
}

}  // namespace
}  // namespace partita::live_test
