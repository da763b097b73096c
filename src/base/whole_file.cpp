#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace partita {
namespace {

// Closes what it holds on every way out.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0666)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Status write_and_rename(const std::string& temporary, const std::string& path,
                        std::string_view text) {
  OpenFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  if (file.fd() < 0) return file_error("write", temporary);
  if (const Status written = write_all(file.fd(), text, temporary); !written) return written;
  // Without this a power cut could leave the new name on an empty file.
  if (::fsync(file.fd()) != 0) return file_error("write", temporary);
  if (!file.close()) return file_error("write", temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return file_error("replace", path);
  return {};
}

}  // namespace

Error file_error(std::string_view what, const std::string& path) {
  return {fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

Result<std::string> read_whole_file(const std::string& path) {
  const OpenFile file(path, O_RDONLY | O_CLOEXEC);
  if (file.fd() < 0) return file_error("read", path);
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(file.fd(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

Status write_whole_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  const Status written = write_and_rename(temporary, path, text);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("write", path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace partita
