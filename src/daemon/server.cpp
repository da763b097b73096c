#include "daemon/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace partita::daemon {
namespace {

constexpr Micros kSweep = Micros::seconds(1);
// Callers on TCP are known only once they have asked something: their connections are counted
// together, so that they take no slots from those whom the kernel names.
constexpr std::uint32_t kTcpUser = 0xffffffffU;

Error socket_error(const std::string& path) {
  return {fmt::format("the socket {}: {}", path, std::strerror(errno))};
}

// Somebody answers there.
bool is_in_use(const sockaddr_un& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool used = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return used;
}

struct TcpName {
  sockaddr_storage storage{};
  socklen_t size = 0;

  explicit TcpName(const api::Address& address) {
    if (address.host.find(':') != std::string::npos) {
      auto* six = reinterpret_cast<sockaddr_in6*>(&storage);
      six->sin6_family = AF_INET6;
      six->sin6_port = htons(address.port);
      ::inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr);
      size = sizeof *six;
    } else {
      auto* four = reinterpret_cast<sockaddr_in*>(&storage);
      four->sin_family = AF_INET;
      four->sin_port = htons(address.port);
      ::inet_pton(AF_INET, address.host.c_str(), &four->sin_addr);
      size = sizeof *four;
    }
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  std::uint16_t port() const {
    return ntohs(storage.ss_family == AF_INET6
                     ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                     : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
};

}  // namespace

Server::Server(ServerLimits limits, Clock& clock, Handler handler)
    : limits_(limits),
      clock_(clock),
      handler_(std::move(handler)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  CHECK(epoll_ >= 0);
}

Server::~Server() {
  for (const auto& [fd, connection] : connections_) ::close(fd);
  if (tcp_listener_ >= 0) ::close(tcp_listener_);
  if (listener_ >= 0) {
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  ::close(epoll_);
}

Status Server::listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Error{fmt::format("the path of a socket has 1 to {} bytes: {}",
                             sizeof address.sun_path - 1, path)};
  }
  path.copy(address.sun_path, path.size());
  if (is_in_use(address)) return Error{fmt::format("the socket {} is in use", path)};
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return Error{fmt::format("{} is no socket", path)};
    ::unlink(path.c_str());
  }
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return socket_error(path);
  // The kernel tells who calls, so whoever may reach the socket may call.
  const bool bound =
      ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::chmod(path.c_str(), 0660) == 0 && ::listen(listener_, SOMAXCONN) == 0;
  if (!bound) return socket_error(path);
  path_ = path;
  watch(listener_, [this] { accept_all(listener_, false); });
  return {};
}

Result<api::Address> Server::listen_tcp(const api::Address& address, Authenticator& authenticator) {
  TcpName name(address);
  tcp_listener_ =
      ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  const int on = 1;
  const bool bound = tcp_listener_ >= 0 &&
                     ::setsockopt(tcp_listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                     ::bind(tcp_listener_, name.get(), name.size) == 0 &&
                     ::listen(tcp_listener_, SOMAXCONN) == 0 &&
                     ::getsockname(tcp_listener_, name.get(), &name.size) == 0;
  if (!bound) return socket_error(api::text_of(address));
  tcp_ = address;
  tcp_.port = name.port();
  authenticator_ = &authenticator;
  watch(tcp_listener_, [this] { accept_all(tcp_listener_, true); });
  return tcp_;
}

void Server::watch(int fd, std::function<void()> ready) {
  watched_[fd] = std::move(ready);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
}

void Server::accept_all(int listener, bool tcp) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    admit(fd, tcp);
  }
}

bool Server::has_room_for(const Connection& connection) const {
  const auto own = of_user_.find(connection.counted_for);
  const std::size_t most = connection.tcp            ? limits_.connections_tcp_max
                           : connection.caller.admin ? limits_.connections_per_admin_max
                                                     : limits_.connections_per_user_max;
  return connections_.size() < limits_.connections_max &&
         (own == of_user_.end() || own->second < most);
}

void Server::admit(int fd, bool tcp) {
  auto connection = std::make_unique<Connection>();
  connection->fd = fd;
  connection->tcp = tcp;
  connection->since = clock_.now();
  ucred peer{};
  socklen_t size = sizeof peer;
  const int on = 1;
  const bool known = tcp ? ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0
                         : ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!known) {
    ::close(fd);
    return;
  }
  if (!tcp) connection->caller = {peer.uid, peer.gid, peer.uid == 0 || peer.uid == ::geteuid()};
  connection->counted_for = tcp ? kTcpUser : peer.uid;
  if (!has_room_for(*connection)) {
    const std::string refusal =
        api::to_bytes(api::error_response(503, "there are too many connections"), false);
    if (::send(fd, refusal.data(), refusal.size(), MSG_NOSIGNAL) < 0) errno = 0;
    ::close(fd);
    return;
  }
  ++of_user_[connection->counted_for];
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  connections_[fd] = std::move(connection);
}

void Server::close_connection(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  waiting_.erase(found->second->ticket);
  followers_.erase(fd);
  const std::uint32_t user = found->second->counted_for;
  if (--of_user_[user] == 0) of_user_.erase(user);
  connections_.erase(found);
  ::close(fd);
}

void Server::serve(Micros wait_max) {
  std::array<epoll_event, 256> events{};
  const auto wait = static_cast<int>((wait_max.count + 999) / 1000);
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const int fd = event.data.fd;
    if (const auto other = watched_.find(fd); other != watched_.end()) {
      other->second();
      continue;
    }
    const auto found = connections_.find(fd);
    if (found == connections_.end()) continue;
    if ((event.events & EPOLLOUT) != 0) send_to(*found->second);
    if ((event.events & EPOLLIN) != 0) {
      const auto again = connections_.find(fd);
      if (again != connections_.end()) read_from(*again->second);
    } else if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) {
      close_connection(fd);
    }
  }
  if (clock_.now() - swept_at_ >= kSweep) close_slow();
}

void Server::close_slow() {
  swept_at_ = clock_.now();
  std::vector<int> slow;
  for (const auto& [fd, connection] : connections_) {
    const bool out =
        connection->follows && connection->tcp && !authenticator_->still_valid(connection->caller);
    if (out) slow.push_back(fd);
    if (connection->follows || connection->ticket != 0) continue;
    const bool reading = !connection->in.empty();
    const Micros most = reading ? limits_.request_time_max : limits_.idle_time_max;
    if (swept_at_ - connection->since > most) slow.push_back(fd);
  }
  for (const int fd : slow) close_connection(fd);
}

void Server::read_from(Connection& connection) {
  const int fd = connection.fd;
  std::array<char, 16384> bytes{};
  const ssize_t size = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return close_connection(fd);
  if (connection.in.empty()) connection.since = clock_.now();
  connection.in.append(bytes.data(), static_cast<std::size_t>(size));
  // One request at a time; what comes behind it must fit as well.
  if (connection.in.size() > api::kHeadBytesMax + api::kBodyBytesMax + bytes.size()) {
    return close_connection(fd);
  }
  take_requests(connection);
}

std::optional<api::Response> Server::ask(Connection& connection, const api::Request& request,
                                         control::Ticket ticket) {
  if (connection.tcp) {
    auto entered = authenticator_->authenticate(request, tcp_);
    if (auto* refusal = std::get_if<api::Response>(&entered)) return std::move(*refusal);
    connection.caller = std::get<api::Caller>(std::move(entered));
  }
  return handler_(request, connection.caller, ticket);
}

void Server::take_requests(Connection& connection) {
  while (connection.ticket == 0 && !connection.follows && !connection.closing &&
         !connection.in.empty()) {
    const api::Parsed parsed = api::parse_request(connection.in);
    if (parsed.state == api::Parsed::State::kMore) return;
    if (parsed.state == api::Parsed::State::kBad) {
      connection.in.clear();
      return put(connection, api::error_response(parsed.status, parsed.why), false);
    }
    connection.in.erase(0, parsed.used);
    connection.keep_alive = parsed.request.keep_alive;
    connection.since = clock_.now();
    const control::Ticket ticket = next_ticket_++;
    auto answer = ask(connection, parsed.request, ticket);
    if (answer) answer->head_only = parsed.request.method == "HEAD";
    if (!answer) {
      connection.ticket = ticket;
      waiting_[ticket] = connection.fd;
      return;
    }
    const int fd = connection.fd;
    put(connection, *answer, connection.keep_alive);
    if (!connections_.contains(fd)) return;
  }
}

void Server::put(Connection& connection, const api::Response& answer, bool keep_alive) {
  connection.out += api::to_bytes(answer, keep_alive);
  connection.follows = answer.stream && !answer.head_only;
  if (connection.follows) followers_.insert(connection.fd);
  connection.closing = !connection.follows && (!keep_alive || answer.stream);
  send_to(connection);
}

void Server::answer(control::Ticket ticket, const api::Response& answer) {
  const auto waiting = waiting_.find(ticket);
  if (waiting == waiting_.end()) return;  // the caller is gone
  const int fd = waiting->second;
  Connection& connection = *connections_.at(fd);
  waiting_.erase(waiting);
  connection.ticket = 0;
  put(connection, answer, connection.keep_alive);
  const auto still = connections_.find(fd);
  if (still != connections_.end()) take_requests(*still->second);
}

void Server::broadcast(const std::function<std::optional<std::string>(const api::Caller&)>& text) {
  const std::set<int> followers = followers_;
  for (const int fd : followers) {
    Connection& connection = *connections_.at(fd);
    const auto line = text(connection.caller);
    if (!line) continue;
    if (connection.out.size() + line->size() > limits_.unsent_bytes_max) {
      close_connection(fd);
      continue;
    }
    connection.out += *line;
    send_to(connection);
  }
}

void Server::want_write(const Connection& connection, bool wanted) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  if (wanted) event.events |= EPOLLOUT;
  event.data.fd = connection.fd;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void Server::send_to(Connection& connection) {
  const int fd = connection.fd;
  while (!connection.out.empty()) {
    const ssize_t sent = ::send(fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return want_write(connection, true);
    if (sent <= 0) return close_connection(fd);
    connection.out.erase(0, static_cast<std::size_t>(sent));
  }
  if (connection.closing) return close_connection(fd);
  want_write(connection, false);
}

}  // namespace partita::daemon
