#include "daemon/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

#include "base/fd.h"

namespace partita::daemon {

// Not to be heard is no reason to stop: whoever wants to hear of us will act on it.
void ServiceManager::tell(const std::string& lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  socket_.copy(address.sun_path, socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(fd.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&address), size);
}

void ServiceManager::ready(std::string_view status) const {
  tell(fmt::format("READY=1\nSTATUS={}", status));
}

void ServiceManager::stopping() const {
  tell("STOPPING=1");
}

void ServiceManager::status(std::string_view status) const {
  tell(fmt::format("STATUS={}", status));
}

void ServiceManager::alive(Micros now) {
  if (watchdog_ <= Micros{}) return;
  // The clock may be set back.
  const bool due = now < told_ || now - told_ >= Micros{watchdog_.count / 4};
  if (!due) return;
  told_ = now;
  tell("WATCHDOG=1");
}

}  // namespace partita::daemon
