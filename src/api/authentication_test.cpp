#include "api/authentication.h"

#include <gtest/gtest.h>

namespace partita::api {
namespace {

const Address kOwn{true, "", "127.0.0.1", 7070};

using Headers = std::vector<std::pair<std::string, std::string>>;

int refusal(Headers headers, const Address& own = kOwn) {
  Request request;
  request.method = "POST";
  request.path = "/v1/jobs";
  request.headers = std::move(headers);
  const auto response = refuse_foreign(request, own);
  return response ? response->status : 0;
}

TEST(Authentication, OnlyOurOwnNamesAreAnswered) {
  EXPECT_EQ(refusal({{"host", "127.0.0.1:7070"}}), 0);
  EXPECT_EQ(refusal({{"host", "LocalHost:7070"}}), 0);
  EXPECT_EQ(refusal({{"host", "[::1]:7070"}}, {true, "", "::1", 7070}), 0);
  // A name that somebody else's server was made to point here (rebinding) is not ours.
  for (const char* host :
       {"evil.example:7070", "evil.example", "127.0.0.1", "127.0.0.1:7071", "", "localhost",
        "localhost.evil.example:7070", "127.0.0.1:7070.evil.example", "127.0.0.1:7070@evil.example",
        "evil.example@127.0.0.1:7070", "0.0.0.0:7070", "127.1:7070", "127.0.0.1:07070",
        "localhost.:7070"}) {
    EXPECT_EQ(refusal({{"host", host}}), 403) << host;
  }
  EXPECT_EQ(refusal({}), 403);
}

TEST(Authentication, PagesOfOthersAreRefusedWhateverTheyCarry) {
  const std::pair<std::string, std::string> host{"host", "127.0.0.1:7070"};
  EXPECT_EQ(refusal({host, {"origin", "http://127.0.0.1:7070"}}), 0);
  EXPECT_EQ(refusal({host, {"origin", "http://localhost:7070"}}), 0);
  for (const char* origin : {"null", "", "http://evil.example", "https://127.0.0.1:7070",
                             "http://127.0.0.1", "http://127.0.0.1:8080", "file://",
                             "http://127.0.0.1:7070.evil.example", "127.0.0.1:7070"}) {
    EXPECT_EQ(refusal({host, {"origin", origin}, {"authorization", "Bearer x"}}), 403) << origin;
  }
}

TEST(Authentication, AHeaderThatStandsThereTwiceDecidesNothing) {
  const std::pair<std::string, std::string> host{"host", "127.0.0.1:7070"};
  EXPECT_EQ(refusal({host, host}), 400);
  EXPECT_EQ(refusal({host, {"host", "evil.example"}}), 400);
  EXPECT_EQ(refusal({host, {"authorization", "Bearer a"}, {"authorization", "Bearer b"}}), 400);
  EXPECT_EQ(refusal({host, {"origin", "http://127.0.0.1:7070"}, {"origin", "http://x"}}), 400);
}

TEST(Authentication, ATokenStandsBehindBearerAndNowhereElse) {
  const auto bearer = [](Headers headers) {
    Request request;
    request.query = "token=x&access_token=x";
    request.headers = std::move(headers);
    return bearer_of(request);
  };
  EXPECT_EQ(bearer({{"authorization", "Bearer abc"}}), "abc");
  EXPECT_EQ(bearer({{"authorization", "bearer  abc "}}), "abc");
  for (const char* value : {"", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"}) {
    EXPECT_FALSE(bearer({{"authorization", value}})) << value;
  }
  EXPECT_FALSE(bearer({}));
  EXPECT_FALSE(bearer({{"cookie", "token=x"}, {"x-token", "x"}}));
}

}  // namespace
}  // namespace partita::api
