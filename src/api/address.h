// Address: where the daemon is reached: a unix socket, or a port of this very machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace partita::api {

struct Address {
  bool tcp = false;
  std::string path;        // of a unix socket
  std::string host;        // of TCP: a loopback address in digits
  std::uint16_t port = 0;  // of TCP; 0: any that is free, for who listens

  bool operator==(const Address&) const = default;
};

// "unix:PATH" or a path; "tcp:127.0.0.1:PORT", "tcp:[::1]:PORT", "tcp:localhost:PORT". Any other
// host is refused: what is said on TCP is not encrypted, so it must not leave the machine.
Result<Address> parse_address(std::string_view text);
// As it is parsed.
std::string text_of(const Address& address);
// What stands in the Host header: "127.0.0.1:7000", "[::1]:7000".
std::string host_and_port(const Address& address);

}  // namespace partita::api
