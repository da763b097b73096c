// DaemonClient: a caller of the daemon: one request over its socket, and the answer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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
  explicit DaemonClient(std::string socket) : socket_(std::move(socket)) {}
  ~DaemonClient();
  DaemonClient(const DaemonClient&) = delete;
  DaemonClient& operator=(const DaemonClient&) = delete;

  // The connection is kept for the next request.
  DaemonAnswer ask(std::string_view method, const std::string& path, const std::string& body = "");

 private:
  bool connect(std::string& why);
  bool send_all(std::string_view bytes);
  bool receive(DaemonAnswer& answer);

  std::string socket_;
  int fd_ = -1;
};

// --socket, PARTITA_SOCKET, or the default.
std::string socket_of(const Values& values);
std::string default_socket();
std::string default_state();

// Says what went wrong; the exit status for it.
int fail(const DaemonAnswer& answer);

}  // namespace partita::cli
