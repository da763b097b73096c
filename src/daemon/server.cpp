#include "daemon/server.h"

#include <fcntl.h>
#include <fmt/format.h>
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
  watch(listener_, [this] { accept_all(); });
  return {};
}

void Server::watch(int fd, std::function<void()> ready) {
  watched_[fd] = std::move(ready);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
}

void Server::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    admit(fd);
  }
}

void Server::admit(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    ::close(fd);
    return;
  }
  const bool full = connections_.size() >= limits_.connections_max ||
                    of_user_[peer.uid] >= limits_.connections_per_user_max;
  if (full) {
    const std::string refusal =
        api::to_bytes(api::error_answer(503, "there are too many connections"), false);
    if (::send(fd, refusal.data(), refusal.size(), MSG_NOSIGNAL) < 0) errno = 0;
    ::close(fd);
    return;
  }
  auto connection = std::make_unique<Connection>();
  connection->fd = fd;
  connection->caller = {peer.uid, peer.gid, peer.uid == 0 || peer.uid == ::geteuid()};
  connection->since = clock_.now();
  ++of_user_[peer.uid];
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
  const std::uint32_t uid = found->second->caller.uid;
  if (--of_user_[uid] == 0) of_user_.erase(uid);
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

void Server::take_requests(Connection& connection) {
  while (connection.ticket == 0 && !connection.follows && !connection.closing &&
         !connection.in.empty()) {
    const api::Parsed parsed = api::parse_request(connection.in);
    if (parsed.state == api::Parsed::State::kMore) return;
    if (parsed.state == api::Parsed::State::kBad) {
      connection.in.clear();
      return put(connection, api::error_answer(parsed.status, parsed.why), false);
    }
    connection.in.erase(0, parsed.used);
    connection.keep_alive = parsed.request.keep_alive;
    connection.since = clock_.now();
    const control::Ticket ticket = next_ticket_++;
    const auto answer = handler_(parsed.request, connection.caller, ticket);
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

void Server::put(Connection& connection, const api::Answer& answer, bool keep_alive) {
  connection.out += api::to_bytes(answer, keep_alive);
  connection.follows = answer.stream;
  if (answer.stream) followers_.insert(connection.fd);
  connection.closing = !answer.stream && !keep_alive;
  send_to(connection);
}

void Server::answer(control::Ticket ticket, const api::Answer& answer) {
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
