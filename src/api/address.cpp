#include "api/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"

namespace partita::api {
namespace {

// 127.0.0.0/8 or ::1, written in digits.
bool is_loopback(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six) != 0;
}

Result<Address> parse_tcp(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_int(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535 || std::to_string(*port) != text.substr(colon + 1)) {
    return Error{
        fmt::format("'tcp:{}' has no port from 0 to 65535, as in tcp:127.0.0.1:7070", text)};
  }
  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!is_loopback(host)) {
    return Error{
        fmt::format("'{}' is no loopback address; TCP is served on 127.0.0.1 or [::1] only, since "
                    "nothing on it "
                    "is encrypted",
                    host)};
  }
  Address address;
  address.tcp = true;
  address.host = std::move(host);
  address.port = static_cast<std::uint16_t>(*port);
  return address;
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  if (text.starts_with("tcp:")) return parse_tcp(text.substr(4));
  const std::string_view path = text.starts_with("unix:") ? text.substr(5) : text;
  if (path.empty() || path.find(':') != std::string_view::npos) {
    return Error{fmt::format("found '{}', wanted unix:PATH or tcp:127.0.0.1:PORT", text)};
  }
  Address address;
  address.path = path;
  return address;
}

std::string host_and_port(const Address& address) {
  const bool six = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", address.host, six ? "]" : "", address.port);
}

std::string text_of(const Address& address) {
  return address.tcp ? "tcp:" + host_and_port(address) : "unix:" + address.path;
}

}  // namespace partita::api
