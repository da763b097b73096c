#include "launch/output_copy.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace partita::launch {

std::uint64_t OutputCopy::free_bytes_of(int fd) {
  struct statvfs disk {};
  if (::fstatvfs(fd, &disk) != 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

OutputCopy::OutputCopy(int from, int to, std::uint64_t most, std::uint64_t floor, FreeBytes free)
    : from_(from), to_(to), most_(most), floor_(floor), free_(std::move(free)) {
  struct stat file {};
  if (::fstat(to, &file) == 0) kept_ = static_cast<std::uint64_t>(file.st_size);
  cut_ = most_ > 0 && kept_ > most_;  // an earlier attempt wrote the line that says so
}

bool OutputCopy::copy_available(std::size_t most) {
  std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  while (most > 0) {
    const ssize_t size = ::read(from_, piece.data(), std::min(piece.size(), most));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN;
    if (size == 0) return false;
    const auto bytes = static_cast<std::size_t>(size);
    most -= bytes;
    remember(piece.data(), bytes);
    keep(piece.data(), bytes);
  }
  return true;
}

void OutputCopy::keep(const char* bytes, std::size_t size) {
  if (cut_) return;
  const std::uint64_t space = most_ == 0 ? UINT64_MAX : most_ - std::min(most_, kept_);
  const auto fits = static_cast<std::size_t>(std::min<std::uint64_t>(space, size));
  if (fits > 0 && at_floor(fits)) {
    lost_ += fits;
    return;
  }
  if (lost_ > 0 && fits > 0) {
    const std::string line = fmt::format("\n[partita: {} bytes of output were lost]\n", lost_);
    if (write(line.data(), line.size())) lost_ = 0;
  }
  if (!write(bytes, fits)) lost_ += fits;
  kept_ += fits;
  if (fits == size) return;
  cut_ = true;
  const std::string line = fmt::format("\n[partita: output cut at {} bytes]\n", most_);
  write(line.data(), line.size());
}

// Once there it takes a quarter more to go on, or a disk at the floor would get a line a piece.
bool OutputCopy::at_floor(std::size_t size) {
  if (floor_ == 0) return false;
  const bool before = dropping_;
  dropping_ = free_(to_) < floor_ + (before ? floor_ / 4 : size);
  if (!dropping_) {
    drop_said_ = false;
  } else if (!drop_said_) {
    const std::string line = fmt::format(
        "\n[partita: the disk has less than {} MiB left: output from here on is dropped]\n",
        floor_ >> 20U);
    drop_said_ = write(line.data(), line.size());
  }
  return dropping_;
}

bool OutputCopy::write(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(to_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void OutputCopy::remember(const char* bytes, std::size_t size) {
  const std::size_t last = std::min(size, kTailBytes);
  tail_.append(bytes + (size - last), last);
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

}  // namespace partita::launch
