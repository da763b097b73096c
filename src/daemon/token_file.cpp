#include "daemon/token_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.h"

namespace partita::daemon {
namespace {

constexpr std::size_t kFileBytesMax = 1U << 20U;

Error failed(const std::string& path) {
  return {fmt::format("{}: {}", path, std::strerror(errno))};
}

bool is_private(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_uid == ::geteuid() && (file.st_mode & 0077U) == 0;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
         a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool expired(const api::TokenRow& row, Micros now) {
  return now >= Micros::seconds(row.expires_s);
}

}  // namespace

Result<std::vector<api::TokenRow>> TokenFile::read() const {
  const Fd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0 && errno == ENOENT) return std::vector<api::TokenRow>();
  struct stat file {};
  if (fd.get() < 0 || ::fstat(fd.get(), &file) != 0) return failed(path_);
  if (!is_private(file)) {
    return Error{fmt::format("{} is not a file that only its daemon can read (mode 0600)", path_)};
  }
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() <= kFileBytesMax) {
    const ssize_t size = ::read(fd.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed(path_);
    if (size == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  auto rows = api::parse_tokens(text);
  if (!rows) return Error{fmt::format("{}: {}", path_, rows.error().message)};
  return rows;
}

Status TokenFile::write(const std::vector<api::TokenRow>& rows) const {
  const std::string beside = path_ + ".new";
  const std::string text = api::format_tokens(rows);
  {
    ::unlink(beside.c_str());
    const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    const bool written =
        fd.get() >= 0 &&
        ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(fd.get()) == 0;
    if (!written) return failed(beside);
  }
  if (::rename(beside.c_str(), path_.c_str()) != 0) return failed(path_);
  return {};
}

Status TokenFile::change(const std::function<Status(std::vector<api::TokenRow>&)>& how) const {
  const std::string beside = path_ + ".lock";
  const Fd lock(::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX) != 0) return failed(beside);
  auto rows = read();
  if (!rows) return rows.error();
  const Status changed = how(*rows);
  if (!changed) return changed;
  return write(*rows);
}

void TokenBook::refresh() {
  struct stat now {};
  if (::lstat(file_.path().c_str(), &now) != 0) now = {};
  if (looked_ && same_file(now, seen_)) return;
  looked_ = true;
  seen_ = now;
  auto rows = file_.read();
  rows_.clear();
  if (rows) {
    rows_ = *std::move(rows);
  } else {
    say_("no token is taken: " + rows.error().message);
  }
}

const api::TokenRow* TokenBook::find(std::string_view secret, Micros now) {
  refresh();
  const api::TokenRow* row = api::find_token(rows_, secret);
  return row == nullptr || expired(*row, now) ? nullptr : row;
}

bool TokenBook::is_good(std::string_view id, Micros now) {
  refresh();
  const auto row = std::ranges::find(rows_, id, &api::TokenRow::id);
  return row != rows_.end() && !expired(*row, now);
}

}  // namespace partita::daemon
