// Fd: a file descriptor that is closed when nobody needs it any more.
#pragma once

#include <unistd.h>

#include <utility>

namespace partita {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }  // negative: there is none
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace partita
