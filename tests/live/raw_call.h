// RawCall: bytes to the daemon and its answer, without a client that would mend them.
#pragma once

#include <string>
#include <vector>

namespace partita::live_test {

struct RawAnswer {
  int status = 0;  // 0: the connection was closed without an answer
  std::string head;
  std::string body;
};

// A connection to "PATH" or "tcp:127.0.0.1:PORT"; -1 when there is none.
int connect_to(const std::string& address);
// Sends the bytes and reads one answer.
RawAnswer raw_call(int fd, const std::string& bytes);
RawAnswer raw_call(const std::string& address, const std::string& bytes);

// A request with these header lines, each without its end.
std::string request_text(const std::string& method, const std::string& path,
                         const std::vector<std::string>& headers, const std::string& body = "");

}  // namespace partita::live_test
