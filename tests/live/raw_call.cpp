#include "live/raw_call.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"

namespace partita::live_test {

int connect_to(const std::string& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (address.starts_with("tcp:127.0.0.1:")) {
    auto* name = reinterpret_cast<sockaddr_in*>(&storage);
    name->sin_family = AF_INET;
    name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port = parse_int(address.substr(address.rfind(':') + 1)).value_or(0);
    name->sin_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof *name;
  } else {
    auto* name = reinterpret_cast<sockaddr_un*>(&storage);
    name->sun_family = AF_UNIX;
    address.copy(name->sun_path, sizeof name->sun_path - 1);
    size = sizeof *name;
  }
  const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&storage), size) == 0) return fd;
  ::close(fd);
  return -1;
}

RawAnswer raw_call(int fd, const std::string& bytes) {
  RawAnswer answer;
  // One that is refused when it connects may be answered before it has spoken.
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) errno = 0;
  std::string in;
  std::array<char, 8192> piece{};
  for (;;) {
    const auto end = in.find("\r\n\r\n");
    if (end != std::string::npos) {
      answer.head = in.substr(0, end);
      answer.status = static_cast<int>(parse_int(answer.head.substr(9, 3)).value_or(0));
      const auto length = answer.head.find("Content-Length: ");
      const bool stream = length == std::string::npos;
      const std::string size = stream ? "0" : answer.head.substr(length + 16);
      const auto wanted =
          static_cast<std::size_t>(parse_int(size.substr(0, size.find('\r'))).value_or(0));
      if (in.size() >= end + 4 + wanted) {
        answer.body = in.substr(end + 4);
        return answer;
      }
    }
    const ssize_t size = ::recv(fd, piece.data(), piece.size(), 0);
    if (size <= 0) return answer;
    in.append(piece.data(), static_cast<std::size_t>(size));
  }
}

RawAnswer raw_call(const std::string& address, const std::string& bytes) {
  const int fd = connect_to(address);
  if (fd < 0) return {};
  RawAnswer answer = raw_call(fd, bytes);
  ::close(fd);
  return answer;
}

std::string request_text(const std::string& method, const std::string& path,
                         const std::vector<std::string>& headers, const std::string& body) {
  std::string text = method + " " + path + " HTTP/1.1\r\n";
  for (const std::string& header : headers) text += header + "\r\n";
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace partita::live_test
