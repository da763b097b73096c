#include "api/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace partita::api {
namespace {

constexpr auto kNowhere = std::string_view::npos;

Parsed bad(int status, std::string why) {
  Parsed parsed;
  parsed.state = Parsed::State::kBad;
  parsed.status = status;
  parsed.why = std::move(why);
  return parsed;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_token(std::string_view text) {
  static constexpr std::string_view kExtra = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || kExtra.find(c) != kNowhere;
  });
}

// "GET /v1/jobs?state=queued HTTP/1.1"
bool parse_first_line(std::string_view line, Request& request) {
  const auto parts = split(line, ' ');
  if (parts.size() != 3 || !is_token(parts[0]) || !parts[1].starts_with('/')) return false;
  const bool printable =
      std::ranges::all_of(parts[1], [](char c) { return c > ' ' && c < '\x7f'; });
  if (!printable || (parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0")) return false;
  request.method = parts[0];
  request.keep_alive = parts[2] == "HTTP/1.1";
  const auto question = parts[1].find('?');
  request.path = parts[1].substr(0, question);
  if (question != kNowhere) request.query = parts[1].substr(question + 1);
  return true;
}

bool parse_header(std::string_view line, Request& request) {
  const auto colon = line.find(':');
  if (colon == kNowhere || !is_token(line.substr(0, colon))) return false;
  const std::string_view value = trim(line.substr(colon + 1));
  const bool clean = std::ranges::none_of(
      value, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; });
  if (!clean || request.headers.size() >= kHeadersMax) return false;
  request.headers.emplace_back(lower(line.substr(0, colon)), value);
  return true;
}

// The lines of a head after the first.
bool parse_headers(std::string_view head, Request& request) {
  std::size_t at = head.find("\r\n");
  while (at != kNowhere) {
    const std::size_t next = head.find("\r\n", at + 2);
    const std::size_t stop = next == kNowhere ? head.size() : next;
    if (!parse_header(head.substr(at + 2, stop - at - 2), request)) return false;
    at = next;
  }
  return true;
}

struct Reason {
  int status;
  const char* text;
};
constexpr std::array kReasons = std::to_array<Reason>({{200, "OK"},
                                                       {201, "Created"},
                                                       {400, "Bad Request"},
                                                       {401, "Unauthorized"},
                                                       {403, "Forbidden"},
                                                       {404, "Not Found"},
                                                       {405, "Method Not Allowed"},
                                                       {408, "Request Timeout"},
                                                       {409, "Conflict"},
                                                       {413, "Content Too Large"},
                                                       {429, "Too Many Requests"},
                                                       {431, "Request Header Fields Too Large"},
                                                       {501, "Not Implemented"},
                                                       {503, "Service Unavailable"},
                                                       {507, "Insufficient Storage"}});

const char* reason_of(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.text;
  }
  return "Error";
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string_view Request::parameter(std::string_view name) const {
  for (const std::string_view part : split(query, '&')) {
    const auto equals = part.find('=');
    if (part.substr(0, equals) != name) continue;
    return equals == kNowhere ? std::string_view() : part.substr(equals + 1);
  }
  return {};
}

Parsed parse_request(std::string_view bytes) {
  Parsed parsed;
  const auto end = bytes.substr(0, kHeadBytesMax).find("\r\n\r\n");
  if (end == kNowhere) {
    if (bytes.size() < kHeadBytesMax) return parsed;
    return bad(431, fmt::format("the head of a request has at most {} bytes", kHeadBytesMax));
  }
  const std::string_view head = bytes.substr(0, end);
  if (!parse_first_line(head.substr(0, head.find("\r\n")), parsed.request)) {
    return bad(400, "the first line of the request is not METHOD /PATH HTTP/1.1");
  }
  if (!parse_headers(head, parsed.request)) {
    return bad(400, "a header of the request is not NAME: VALUE, or there are too many");
  }
  if (!parsed.request.header("transfer-encoding").empty()) {
    return bad(501, "bodies in chunks are not taken; send content-length");
  }
  std::size_t length = 0;
  int lengths = 0;
  for (const auto& [name, value] : parsed.request.headers) {
    if (name != "content-length") continue;
    const auto size = parse_int(value);
    if (!is_digits(value) || !size || ++lengths > 1) {
      return bad(400, "content-length is not one number");
    }
    if (*size > static_cast<std::int64_t>(kBodyBytesMax)) {
      return bad(413, fmt::format("the body of a request has at most {} bytes", kBodyBytesMax));
    }
    length = static_cast<std::size_t>(*size);
  }
  if (bytes.size() < end + 4 + length) return parsed;
  if (lower(parsed.request.header("connection")) == "close") parsed.request.keep_alive = false;
  parsed.request.body = bytes.substr(end + 4, length);
  parsed.used = end + 4 + length;
  parsed.state = Parsed::State::kWhole;
  return parsed;
}

Response error_response(int status, std::string_view message, std::int64_t retry_after_s) {
  nlohmann::ordered_json json;
  json["error"]["code"] = status;
  json["error"]["message"] = message;
  Response response;
  response.status = status;
  response.body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (status == 429 || status == 503 || status == 507) {
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
  }
  return response;
}

std::string to_bytes(const Response& response, bool keep_alive) {
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status,
                                  reason_of(response.status), response.type);
  for (const auto& [name, value] : response.headers)
    bytes += fmt::format("{}: {}\r\n", name, value);
  bytes += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  if (response.stream) {
    bytes += "Connection: close\r\n\r\n";
  } else {
    bytes += fmt::format("Content-Length: {}\r\n{}\r\n", response.body.size(),
                         keep_alive ? "" : "Connection: close\r\n");
  }
  if (!response.head_only) bytes += response.body;
  return bytes;
}

}  // namespace partita::api
