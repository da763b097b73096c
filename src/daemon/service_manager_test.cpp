#include "daemon/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/fd.h"

namespace partita::daemon {
namespace {

// A socket as systemd has it; what was sent to it, one datagram after the other.
class Listener {
 public:
  explicit Listener(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  std::string next() {
    std::array<char, 256> bytes{};
    const ssize_t size = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    return size < 0 ? "" : std::string(bytes.data(), static_cast<std::size_t>(size));
  }

 private:
  Fd fd_;
};

TEST(ServiceManager, IsToldThatTheDaemonServesAndStops) {
  const std::string folder = testing::TempDir() + "/notify-" + std::to_string(::getpid());
  for (const std::string& name : {folder, "@partita-test-" + std::to_string(::getpid())}) {
    Listener listener(name);
    const ServiceManager manager(name, {});
    manager.ready("serving");
    EXPECT_EQ(listener.next(), "READY=1\nSTATUS=serving");
    manager.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1");
    EXPECT_EQ(listener.next(), "");
    if (name.front() != '@') ::unlink(name.c_str());
  }
}

TEST(ServiceManager, HearsOfTheDaemonOftenEnoughForItsWatchdogAndNotMore) {
  const std::string name = "@partita-watchdog-" + std::to_string(::getpid());
  Listener listener(name);
  ServiceManager manager(name, Micros::seconds(20));
  int heard = 0;
  for (int second = 1; second <= 100; ++second) {
    manager.alive(Micros::seconds(second));
    if (listener.next() == "WATCHDOG=1") ++heard;
  }
  EXPECT_EQ(heard, 20);               // every 5 s, from the first on
  manager.alive(Micros::seconds(1));  // the clock was set back
  EXPECT_EQ(listener.next(), "WATCHDOG=1");
}

TEST(ServiceManager, NobodyToTellIsNoTrouble) {
  ServiceManager nobody("", Micros::seconds(1));
  nobody.ready("");
  nobody.alive(Micros::seconds(9));
  ServiceManager gone("/no/such/socket", Micros::seconds(1));
  gone.ready("");
  ServiceManager(std::string(300, 'x'), {}).ready("");
}

}  // namespace
}  // namespace partita::daemon
