// DaemonClient: a caller of the daemon: one request over its socket, and the answer.
//
// Our own although Debian has cpp-httplib, which would save some eighty lines and does speak over
// unix sockets: a daemon that refuses (too many requests, a body that is too large) answers and
// closes before it has read all. cpp-httplib 0.11 does not read an answer once it fails to write,
// so the reason would be lost, and it writes without MSG_NOSIGNAL. It also brings TLS and three
// compression libraries, which nothing here uses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "api/address.h"
#include "base/result.h"
#include "cli/flags/values.h"

namespace partita::cli {

// Exit statuses of a client beside 1, the answer is no, and 2, bad input.
inline constexpr int kUnreachable = 3;  // there is no daemon
inline constexpr int kForbidden = 4;    // the caller may not do this, or showed no good token
inline constexpr int kLater = 5;        // there are too many jobs or requests, or no space, now

struct DaemonAnswer {
  // Of HTTP. 0: nobody answered, and `message` says why; 400 also without asking, when a flag is
  // wrong, and 403 when the socket is not ours to use.
  int status = 0;
  std::string body;
  std::string state_header;  // Partita-State
  std::string message;       // of an error

  bool good() const { return status >= 200 && status < 300; }
  // REQUIRES: good(), and the route answers with JSON.
  nlohmann::ordered_json json() const;
};

class DaemonClient {
 public:
  // "PATH", "unix:PATH" or "tcp:127.0.0.1:PORT"; the token is shown on TCP only.
  explicit DaemonClient(const std::string& address, std::string token = {});
  // --socket or PARTITA_SOCKET or the default; --token-file or PARTITA_TOKEN.
  explicit DaemonClient(const Values& values);
  ~DaemonClient();
  DaemonClient(const DaemonClient&) = delete;
  DaemonClient& operator=(const DaemonClient&) = delete;

  // The connection is kept for the next request.
  DaemonAnswer ask(std::string_view method, const std::string& path, const std::string& body = "");

 private:
  bool connect(std::string& why);
  bool connect_unix();
  bool connect_tcp();
  bool send_all(std::string_view bytes);
  bool receive(DaemonAnswer& answer);

  api::Address address_;
  std::string token_;
  std::string trouble_;     // why there is no asking at all
  bool forbidden_ = false;  // there is a socket, and we may not use it
  int fd_ = -1;
};

// As it stands in a query: what is no letter, digit, `.`, `_`, `-` or `,` as %XX.
std::string in_query(std::string_view text);

std::string default_socket();
std::string default_state();

// Says what went wrong; the exit status for it.
int fail(const DaemonAnswer& answer);

}  // namespace partita::cli
