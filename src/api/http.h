// HTTP/1.1 as far as the daemon speaks it: requests out of bytes, and bytes out of responses.
//
// Requests have a length or no body; chunks, upgrades and continuation lines are refused. Nothing
// here allocates more than the limits say, whatever comes in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::api {

inline constexpr std::size_t kHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kBodyBytesMax = 1024 * 1024;
inline constexpr std::size_t kHeadersMax = 64;

struct Request {
  std::string method;
  std::string path;  // without the query, as it came: nothing in our paths needs escapes
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  bool keep_alive = true;

  // Empty when there is none.
  std::string_view header(std::string_view name) const;
  // The value of a key of the query; empty when there is none.
  std::string_view parameter(std::string_view name) const;
};

struct Parsed {
  enum class State : std::uint8_t { kWhole, kMore, kBad };
  State state = State::kMore;
  std::size_t used = 0;  // kWhole: bytes of the request
  Request request;
  int status = 0;  // kBad: what to answer
  std::string why;
};

// Reads one request from the front of `bytes`.
Parsed parse_request(std::string_view bytes);

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool stream = false;     // the body is only the beginning; more follows until the caller goes
  bool head_only = false;  // as the same without a body, to HEAD
};

// {"error": {"code": ..., "message": ...}}; with 429, 503 and 507, when to come back.
Response error_response(int status, std::string_view message, std::int64_t retry_after_s = 1);

std::string to_bytes(const Response& response, bool keep_alive);

}  // namespace partita::api
