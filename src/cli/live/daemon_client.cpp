#include "cli/live/daemon_client.h"

#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "cli/flags/live_values.h"
#include "cli/output/console.h"

namespace partita::cli {
namespace {

constexpr const char* kMachineSocket = "/run/partita/api.sock";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// --socket, PARTITA_SOCKET, or the default.
std::string socket_of(const Values& values) {
  if (values.is_set("socket")) return values.text("socket");
  const std::string named = environment("PARTITA_SOCKET");
  if (!named.empty()) return named;
  // Who serves nothing themselves mean the daemon of the machine.
  const std::string own = default_socket();
  return ::access(own.c_str(), F_OK) != 0 && ::access(kMachineSocket, F_OK) == 0 ? kMachineSocket
                                                                                 : own;
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

std::string group_name(gid_t gid) {
  const group* found = ::getgrgid(gid);
  return found == nullptr ? std::to_string(gid) : found->gr_name;
}

std::string own_name() {
  const passwd* found = ::getpwuid(::geteuid());
  return found == nullptr ? std::to_string(::geteuid()) : found->pw_name;
}

// The socket is there, or in a folder we may not look into: whose group admits to it.
std::string no_right_to(const std::string& path) {
  std::string gate = path;
  struct stat found {};
  while (::stat(gate.c_str(), &found) != 0 && errno == EACCES && gate.size() > 1) {
    gate = gate.substr(0, std::max<std::size_t>(1, gate.rfind('/')));
  }
  // A folder that can be seen may still not be one to go through.
  std::string why = fmt::format("{} may not use the daemon's socket {}", own_name(), path);
  const unsigned needed = S_ISDIR(found.st_mode) ? S_IXGRP : S_IWGRP;
  if ((found.st_mode & needed) == 0) {
    return why + fmt::format(": {} admits no group; whoever runs the daemon can change that", gate);
  }
  // The group of the superuser is nobody's to join: much more than a socket is open to it.
  if (found.st_gid == 0) {
    return why + fmt::format(
                     ": {0} is of the group root; whoever runs the daemon can give it another, as "
                     "with `chgrp partita {0}`, and add users to that",
                     gate);
  }
  const std::string group = group_name(found.st_gid);
  return why +
         fmt::format(
             ": it is for members of the group {0}; `sudo usermod -aG {0} {1}` adds one, from "
             "the next login on",
             group, own_name());
}

}  // namespace

nlohmann::ordered_json DaemonAnswer::json() const {
  return nlohmann::ordered_json::parse(body);
}

DaemonClient::DaemonClient(const std::string& address, std::string token)
    : token_(std::move(token)) {
  const Result<api::Address> parsed = api::parse_address(address);
  if (parsed) address_ = *parsed;
  if (!parsed) trouble_ = parsed.error().message;
}

DaemonClient::DaemonClient(const Values& values)
    : DaemonClient(socket_of(values), environment("PARTITA_TOKEN")) {
  if (!address_.tcp || !values.is_set("token-file")) return;
  const std::string path = values.text("token-file");
  std::ifstream file(path);
  if (!std::getline(file, token_))
    trouble_ = fmt::format("--token-file: no token can be read from {}", path);
}

DaemonClient::~DaemonClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool DaemonClient::connect_unix() {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address_.path.size() >= sizeof name.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  address_.path.copy(name.sun_path, address_.path.size());
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return ::connect(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

bool DaemonClient::connect_tcp() {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address_.port);
  if (::getaddrinfo(address_.host.c_str(), port.c_str(), &wanted, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return false;
  }
  fd_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  const bool good = ::connect(fd_, found->ai_addr, found->ai_addrlen) == 0;
  const int on = 1;
  if (good) ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::freeaddrinfo(found);
  return good;
}

bool DaemonClient::connect(std::string& why) {
  if (address_.tcp ? connect_tcp() : connect_unix()) return true;
  forbidden_ = !address_.tcp && errno == EACCES;
  why = forbidden_
            ? no_right_to(address_.path)
            : fmt::format(
                  "no daemon answers at {} ({}); start one with `partita serve`, or name its "
                  "socket with --socket",
                  address_.tcp ? api::text_of(address_) : address_.path, std::strerror(errno));
  if (fd_ >= 0) ::close(fd_);
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
  if (!trouble_.empty()) {
    answer.status = 400;
    answer.message = trouble_;
    return answer;
  }
  const std::string shown =
      address_.tcp && !token_.empty() ? fmt::format("Authorization: Bearer {}\r\n", token_) : "";
  const std::string request = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: {}\r\n\r\n{}", method, path,
      address_.tcp ? api::host_and_port(address_) : "partita", shown, body.size(), body);
  // A connection that was kept may have been closed meanwhile.
  for (int tries = fd_ >= 0 ? 2 : 1; tries > 0; --tries) {
    if (fd_ < 0 && !connect(answer.message)) {
      if (forbidden_) answer.status = 403;
      return answer;
    }
    // A daemon that is full answers before it has heard us out.
    const bool heard = send_all(request);
    if (receive(answer) && (heard || answer.status >= 400)) break;
    ::close(fd_);
    fd_ = -1;
    answer.status = 0;
    answer.message =
        fmt::format("the daemon at {} went away before it answered", api::text_of(address_));
  }
  if (answer.status == 0 || answer.good()) return answer;
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const bool told = json.is_object() && json.contains("error");
  answer.message = told ? json["error"].value("message", "refused") : "refused";
  return answer;
}

std::string in_query(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || c == ',';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string default_socket() {
  if (::geteuid() == 0) return kMachineSocket;
  const std::string runtime = environment("XDG_RUNTIME_DIR");
  return (runtime.empty() ? own_state_folder() : runtime) + "/partita/api.sock";
}

std::string default_state() {
  return ::geteuid() == 0 ? "/var/lib/partita" : own_state_folder() + "/partita";
}

int fail(const DaemonAnswer& answer) {
  complain(answer.message);
  switch (answer.status) {
    case 0:
      return kUnreachable;
    case 401:
    case 403:
      return kForbidden;
    case 404:
    case 409:
      return 1;
    case 429:
    case 503:
    case 507:
      return kLater;
    default:
      return 2;
  }
}

}  // namespace partita::cli
