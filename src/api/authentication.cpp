#include "api/authentication.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace partita::api {
namespace {

std::size_t count_of(const Request& request, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      request.headers, [&](const auto& header) { return header.first == name; }));
}

// "127.0.0.1:7070", or localhost with that port.
bool is_own_host(std::string_view host, const Address& own) {
  const std::string given = lower(host);
  return given == host_and_port(own) || given == "localhost:" + std::to_string(own.port);
}

}  // namespace

std::optional<Response> refuse_foreign(const Request& request, const Address& own) {
  for (const std::string_view name : {"host", "origin", "authorization"}) {
    if (count_of(request, name) > 1) return error_response(400, "a header stands there twice");
  }
  if (!is_own_host(request.header("host"), own)) {
    return error_response(403, "the Host of the request is not this daemon's address");
  }
  const std::string_view origin = request.header("origin");
  const bool own_page = origin.starts_with("http://") && is_own_host(origin.substr(7), own);
  if (count_of(request, "origin") > 0 && !own_page) {
    return error_response(403, "requests of other sites' pages are not taken");
  }
  return {};
}

std::optional<std::string> bearer_of(const Request& request) {
  const std::string_view value = request.header("authorization");
  constexpr std::string_view kFront = "bearer ";
  if (count_of(request, "authorization") != 1 || value.size() <= kFront.size() ||
      lower(value.substr(0, kFront.size())) != kFront) {
    return {};
  }
  return std::string(trim(value.substr(kFront.size())));
}

Response unknown_caller() {
  Response response =
      error_response(401, "a token is needed that is known, not expired and not revoked");
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"partita\"");
  return response;
}

}  // namespace partita::api
