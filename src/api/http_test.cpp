#include "api/http.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"

namespace partita::api {
namespace {

using State = Parsed::State;

const std::string kPost =
    "POST /v1/jobs?a=1&b=two HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";

TEST(Http, ARequestIsReadWholeOrNotAtAll) {
  for (std::size_t size = 0; size < kPost.size(); ++size) {
    EXPECT_EQ(parse_request(kPost.substr(0, size)).state, State::kMore) << size;
  }
  const Parsed whole = parse_request(kPost + "GET / HTTP/1.1\r\n\r\n");
  ASSERT_EQ(whole.state, State::kWhole);
  EXPECT_EQ(whole.used, kPost.size());
  EXPECT_EQ(whole.request.method, "POST");
  EXPECT_EQ(whole.request.path, "/v1/jobs");
  EXPECT_EQ(whole.request.parameter("b"), "two");
  EXPECT_EQ(whole.request.parameter("c"), "");
  EXPECT_EQ(whole.request.header("host"), "x");
  EXPECT_EQ(whole.request.body, "hello");
  EXPECT_TRUE(whole.request.keep_alive);
}

TEST(Http, WhatIsNoRequestIsRefused) {
  for (const char* bad :
       {"\r\n\r\n", "GET\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
        "GET / HTTP/2\r\n\r\n", "G\x01T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\na b: c\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "GET / HTTP/1.1\r\n folded: x\r\n\r\n"}) {
    const Parsed parsed = parse_request(bad);
    EXPECT_EQ(parsed.state, State::kBad) << bad;
    EXPECT_EQ(parsed.status, 400) << bad;
  }
  EXPECT_EQ(parse_request("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").status, 501);
}

TEST(Http, EachLimitHoldsAtItsFigureAndNotBeyond) {
  const auto with_body = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  };
  EXPECT_EQ(parse_request(with_body(kBodyBytesMax)).state, State::kMore);
  EXPECT_EQ(parse_request(with_body(kBodyBytesMax + 1)).status, 413);
  const std::string head = "GET / HTTP/1.1\r\nx: ";
  const std::string fits = head + std::string(kHeadBytesMax - head.size() - 4, 'y') + "\r\n\r\n";
  EXPECT_EQ(parse_request(fits).state, State::kWhole);
  EXPECT_EQ(parse_request(head + std::string(kHeadBytesMax, 'y')).status, 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < kHeadersMax; ++i) many += "a: b\r\n";
  EXPECT_EQ(parse_request(many + "\r\n").state, State::kWhole);
  EXPECT_EQ(parse_request(many + "a: b\r\n\r\n").status, 400);
}

TEST(Http, RandomBytesDoNoHarm) {
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = kPost;
    for (int change = 0; change < 4; ++change) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    const Parsed parsed = parse_request(bytes);
    if (parsed.state == State::kWhole) {
      EXPECT_LE(parsed.used, bytes.size());
    }
  }
}

TEST(Http, RefusalsThatPassSayWhenToComeBack) {
  EXPECT_NE(to_bytes(error_response(429, "full"), true).find("Retry-After: 1"), std::string::npos);
  EXPECT_NE(to_bytes(error_response(503, "closed"), true).find("Retry-After: 1"),
            std::string::npos);
  EXPECT_EQ(to_bytes(error_response(400, "bad"), true).find("Retry-After"), std::string::npos);
}

TEST(Http, AnAnswerToHeadIsThatToGetWithoutItsBody) {
  Response response;
  response.body = "{}";
  const std::string whole = to_bytes(response, true);
  response.head_only = true;
  EXPECT_EQ(to_bytes(response, true) + "{}", whole);
}

}  // namespace
}  // namespace partita::api
