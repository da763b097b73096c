// FdWriter: buffered bytes to a file descriptor; the first failure is kept and nothing follows it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace partita::cli {

class FdWriter {
 public:
  // `name` is for messages. The descriptor stays the caller's.
  FdWriter(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  // False once a write has failed: stop, and see status().
  bool write(std::string_view bytes);
  bool flush();

  Status status() const;
  // The reader went away, which is no fault of anyone's.
  bool broken_pipe() const;

 private:
  int fd_;
  std::string name_;
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

}  // namespace partita::cli
