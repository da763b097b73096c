#include "cli/output/fd_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace partita::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

}  // namespace

bool FdWriter::write(std::string_view bytes) {
  if (error_ != 0) return false;
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes || flush();
}

bool FdWriter::flush() {
  std::string_view left = buffer_;
  while (error_ == 0 && !left.empty()) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  return error_ == 0;
}

Status FdWriter::status() const {
  if (error_ == 0) return {};
  return Error{fmt::format("cannot write {}: {}", name_, std::strerror(error_))};
}

bool FdWriter::broken_pipe() const {
  return error_ == EPIPE;
}

}  // namespace partita::cli
