#include "cli/output/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/output/temporaries.h"

namespace partita::cli {
namespace {

Error cannot_write(const std::string& path, int error) {
  return {fmt::format("cannot write {}: {}", path, std::strerror(error))};
}

// A link keeps pointing where it does: its target is what gets replaced.
std::string behind_links(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path) {
  constexpr mode_t kMode = 0666;  // less the umask
  struct stat present {};
  const bool exists = ::stat(path.c_str(), &present) == 0;
  if (exists && S_ISDIR(present.st_mode)) return cannot_write(path, EISDIR);
  std::string target = path;
  std::string temporary;
  int fd = -1;
  if (exists && !S_ISREG(present.st_mode)) {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // A file that may not be written is not to be replaced either.
    if (exists && ::access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
    target = behind_links(path);
    temporary = fmt::format("{}.partita-{}", target, ::getpid());
    // Before it is there: a signal may come in between.
    remember_temporary(temporary);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  }
  if (fd < 0) {
    const int why = errno;
    if (!temporary.empty()) forget_temporary(temporary);
    return cannot_write(path, why);
  }
  return std::unique_ptr<OutputFile>(new OutputFile(fd, target, temporary));
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_temporary(temporary_);
}

Status OutputFile::commit() {
  if (!writer_.flush()) return writer_.status();
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) return cannot_write(path_, errno);
  if (temporary_.empty()) return {};
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  forget_temporary(temporary_);
  temporary_.clear();
  return {};
}

Status write_output(const std::string& path, std::string_view text) {
  const auto file = OutputFile::open(path);
  if (!file) return file.error();
  (*file)->writer().write(text);
  return (*file)->commit();
}

}  // namespace partita::cli
