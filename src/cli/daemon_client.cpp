#include "cli/daemon_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "cli/console.h"
#include "cli/live_values.h"

namespace partita::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string own_state_folder() {
  const std::string state = environment("XDG_STATE_HOME");
  return state.empty() ? environment("HOME") + "/.local/state" : state;
}

// "content-length: 12" of the head, or nothing.
std::string header_of(std::string_view head, std::string_view name) {
  for (const std::string_view line : split(head, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || lower(line.substr(0, colon)) != name) continue;
    return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

}  // namespace

DaemonClient::~DaemonClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool DaemonClient::connect(std::string& why) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) {
    why = fmt::format("the path of the socket is too long: {}", socket_);
    return false;
  }
  socket_.copy(address.sun_path, socket_.size());
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
  why = fmt::format(
      "no daemon answers at {} ({}); start one with `partita serve`, or name its "
      "socket with --socket",
      socket_, std::strerror(errno));
  ::close(fd_);
  fd_ = -1;
  return false;
}

bool DaemonClient::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool DaemonClient::receive(DaemonAnswer& answer) {
  std::string bytes;
  std::array<char, 16384> piece{};
  std::size_t end = std::string::npos;
  std::size_t length = 0;
  for (;;) {
    if (end == std::string::npos) {
      end = bytes.find("\r\n\r\n");
      if (end != std::string::npos) {
        const auto size = parse_int(header_of(bytes.substr(0, end), "content-length"));
        length = static_cast<std::size_t>(size.value_or(0));
      }
    }
    if (end != std::string::npos && bytes.size() >= end + 4 + length) break;
    const ssize_t size = ::recv(fd_, piece.data(), piece.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    bytes.append(piece.data(), static_cast<std::size_t>(size));
  }
  const std::string head = bytes.substr(0, end);
  answer.status = static_cast<int>(parse_int(head.substr(9, 3)).value_or(0));
  answer.state_header = header_of(head, "partita-state");
  answer.body = bytes.substr(end + 4, length);
  return answer.status != 0;
}

DaemonAnswer DaemonClient::ask(std::string_view method, const std::string& path,
                               const std::string& body) {
  DaemonAnswer answer;
  const std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: partita\r\nContent-Length: {}\r\n\r\n{}", method, path,
                  body.size(), body);
  // A connection that was kept may have been closed meanwhile.
  for (int tries = fd_ >= 0 ? 2 : 1; tries > 0; --tries) {
    if (fd_ < 0 && !connect(answer.message)) return answer;
    if (send_all(request) && receive(answer)) break;
    ::close(fd_);
    fd_ = -1;
    answer.status = 0;
    answer.message = fmt::format("the daemon at {} went away before it answered", socket_);
  }
  if (answer.status == 0 || answer.good()) return answer;
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const bool told = json.is_object() && json.contains("error");
  answer.message = told ? json["error"].value("message", "refused") : "refused";
  return answer;
}

std::string default_socket() {
  if (::geteuid() == 0) return "/run/partita/api.sock";
  const std::string runtime = environment("XDG_RUNTIME_DIR");
  return (runtime.empty() ? own_state_folder() : runtime) + "/partita/api.sock";
}

std::string default_state() {
  return ::geteuid() == 0 ? "/var/lib/partita" : own_state_folder() + "/partita";
}

std::string socket_of(const Values& values) {
  if (values.is_set("socket")) return *parse_listen(values.text("socket"));
  const std::string named = environment("PARTITA_SOCKET");
  if (named.empty()) return default_socket();
  return named.starts_with("unix:") ? named.substr(5) : named;
}

int fail(const DaemonAnswer& answer) {
  complain(answer.message);
  if (answer.status == 0) return kUnreachable;
  return answer.status == 404 || answer.status == 409 ? 1 : 2;
}

}  // namespace partita::cli
