// DaemonClient: a caller of the daemon: one request over its socket, and the answer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/address.h"
#include "base/result.h"
#include "cli/values.h"

namespace partita::cli {

// The exit status of a client that finds no daemon.
inline constexpr int kUnreachable = 3;

struct DaemonAnswer {
  int status = 0;  // of HTTP; 0: nobody answered, and `message` says why
  std::string body;
  std::string state_header;  // Partita-State
  std::string message;       // of an error

  bool good() const { return status >= 200 && status < 300; }
  // REQUIRES: good(), and the route answers with JSON.
  nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(body); }
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
  std::string trouble_;  // why there is no asking at all
  int fd_ = -1;
};

std::string default_socket();
std::string default_state();

// Says what went wrong; the exit status for it.
int fail(const DaemonAnswer& answer);

}  // namespace partita::cli
