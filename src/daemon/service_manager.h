// ServiceManager: tells who started the daemon (systemd, Type=notify) that it serves and is alive.
//
// The protocol of sd_notify(3) by hand: one datagram of NAME=VALUE lines to the socket that the
// environment names, documented as stable by systemd. libsystemd would do the same twenty lines,
// and be a library that every machine needs, those without systemd included.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"

namespace partita::daemon {

class ServiceManager {
 public:
  // `socket`: NOTIFY_SOCKET, a path or, with @ in front, an abstract name; empty: nobody wants to
  // know. `watchdog`: within how long it wants to hear of us again and again; 0: it does not.
  ServiceManager(std::string socket, Micros watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  void ready(std::string_view status) const;
  void stopping() const;
  // What `systemctl status` shows.
  void status(std::string_view status) const;
  // Says that we are alive, twice in the time it waits; more often costs nothing.
  void alive(Micros now);

 private:
  void tell(const std::string& lines) const;

  std::string socket_;
  Micros watchdog_;
  Micros told_;
};

}  // namespace partita::daemon
