#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/fd.h"

namespace partita {
namespace {

int opened(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC, 0666);
}

Status write_and_rename(const std::string& temporary, const std::string& path,
                        std::string_view text) {
  Fd file(opened(temporary, O_WRONLY | O_CREAT | O_TRUNC));
  if (file.get() < 0) return file_error("write", temporary);
  if (const Status written = write_all(file.get(), text, temporary); !written) return written;
  // Without this a power cut could leave the new name on an empty file.
  if (::fsync(file.get()) != 0) return file_error("write", temporary);
  if (::close(file.release()) != 0) return file_error("write", temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return file_error("replace", path);
  return {};
}

}  // namespace

Error file_error(std::string_view what, const std::string& path) {
  return {fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

Result<std::string> read_whole_file(const std::string& path) {
  const Fd file(opened(path, O_RDONLY));
  if (file.get() < 0) return file_error("read", path);
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
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
