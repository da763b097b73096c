// Server: connections on a unix socket and on TCP, in one thread, without waiting for anyone.
//
// Our own although libmicrohttpd would serve: it can suspend a connection until the turn is
// committed, hand over its epoll descriptor for our loop, and take a listening socket. What it
// lacks are the limits: its timeout is of silence, so a caller that sends a byte now and then keeps
// its place for ever, and it lets connections in by their address, which on a unix socket says
// nothing of the user. With those around it little would be saved, and requests are parsed by a
// pure function (api/http.h) that is fuzzed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/address.h"
#include "api/service.h"
#include "base/clock.h"

namespace partita::daemon {

struct ServerLimits {
  std::size_t connections_max = 1'024;
  std::size_t connections_per_user_max = 64;
  std::size_t connections_per_admin_max =
      512;                                // root and the daemon's user, who can stop it anyway
  std::size_t connections_tcp_max = 256;  // of all callers on TCP together
  Micros request_time_max = Micros::seconds(5);  // from its first byte to its last
  Micros idle_time_max = Micros::seconds(300);   // between two requests
  std::size_t unsent_bytes_max = 4U << 20U;      // of a follower that does not read
};

// Says who callers on TCP are.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  // The caller of a request that came in at `own`, or what to answer instead.
  virtual std::variant<api::Caller, api::Response> authenticate(const api::Request& request,
                                                                const api::Address& own) = 0;
  // Whether what a caller once showed still holds.
  virtual bool still_valid(const api::Caller& caller) = 0;
};

class Server {
 public:
  // What to do with a whole request: a response now, or nothing and an answer() later.
  using Handler = std::function<std::optional<api::Response>(const api::Request&,
                                                             const api::Caller&, control::Ticket)>;

  Server(ServerLimits limits, Clock& clock, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // A socket that nobody listens on is replaced; one that is in use is not.
  Status listen(const std::string& path);
  // Callers on TCP are who the authenticator says, which outlives the server. A port of 0 is any
  // that is free; the address that was taken is returned.
  Result<api::Address> listen_tcp(const api::Address& address, Authenticator& authenticator);
  // Calls back when the descriptor is readable.
  void watch(int fd, std::function<void()> ready);

  // Waits at most so long, and serves what is ready.
  void serve(Micros wait_max);
  void answer(control::Ticket ticket, const api::Response& answer);
  // To every follower of events who may see it.
  void broadcast(const std::function<std::optional<std::string>(const api::Caller&)>& text);

  std::size_t connections() const { return connections_.size(); }

 private:
  struct Connection {
    int fd = -1;
    api::Caller caller;
    bool tcp = false;
    std::uint32_t counted_for = 0;  // the user whose connections it is one of
    std::string in;
    std::string out;
    control::Ticket ticket = 0;  // an answer is being waited for
    bool keep_alive = true;
    bool follows = false;
    bool closing = false;  // once everything is sent
    Micros since;          // the first byte of the present request, or the end of the last
  };

  void accept_all(int listener, bool tcp);
  void admit(int fd, bool tcp);
  bool has_room_for(const Connection& connection) const;
  std::optional<api::Response> ask(Connection& connection, const api::Request& request,
                                   control::Ticket ticket);
  void read_from(Connection& connection);
  void take_requests(Connection& connection);
  void put(Connection& connection, const api::Response& answer, bool keep_alive);
  void send_to(Connection& connection);
  void want_write(const Connection& connection, bool wanted);
  void close_connection(int fd);
  void close_slow();

  ServerLimits limits_;
  Clock& clock_;
  Handler handler_;
  int epoll_ = -1;
  int listener_ = -1;
  std::string path_;
  int tcp_listener_ = -1;
  api::Address tcp_;
  Authenticator* authenticator_ = nullptr;
  std::map<int, std::unique_ptr<Connection>> connections_;
  std::map<std::uint32_t, std::size_t> of_user_;
  std::set<int> followers_;
  std::map<control::Ticket, int> waiting_;
  std::map<int, std::function<void()>> watched_;
  control::Ticket next_ticket_ = 1;
  Micros swept_at_;
};

}  // namespace partita::daemon
