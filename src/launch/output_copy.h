// OutputCopy: what a job writes, on its way from its pipe to the file of its output.
//
// The job has a pipe and no file of ours, so it can write as much as it likes: what is above the
// limit is read and dropped, and the file says so once. So is what comes while the disk has less
// than a floor left: output is what fills disks, and the ends of jobs have to be written there too.
// A full disk loses output, not the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace partita::launch {

class OutputCopy {
 public:
  // The last of it is what tells why a job failed.
  static constexpr std::size_t kTailBytes = 4096;

  // Bytes left on the disk of a descriptor; what cannot be asked has plenty.
  using FreeBytes = std::function<std::uint64_t(int fd)>;

  // Descriptors of others; `from` does not block. `most`: bytes of the file that hold output, those
  // of earlier attempts included; 0: no limit. `floor`: of the disk, that output leaves free.
  OutputCopy(int from, int to, std::uint64_t most, std::uint64_t floor = 0,
             FreeBytes free = free_bytes_of);

  static std::uint64_t free_bytes_of(int fd);

  // Copies what is there, at most `most` bytes of it; false when nothing more will come.
  bool copy_available(std::size_t most = SIZE_MAX);

  // The last of what came through, kept in the file or not.
  const std::string& tail() const { return tail_; }

 private:
  void keep(const char* bytes, std::size_t size);
  bool at_floor(std::size_t size);
  bool write(const char* bytes, std::size_t size);
  void remember(const char* bytes, std::size_t size);

  int from_;
  int to_;
  std::uint64_t most_;
  std::uint64_t kept_ = 0;
  std::uint64_t floor_;
  FreeBytes free_;
  bool cut_ = false;
  bool dropping_ = false;   // since the disk came to its floor
  bool drop_said_ = false;  // in the file
  std::uint64_t lost_ = 0;  // bytes that could not be written, since the last that could
  std::string tail_;
};

}  // namespace partita::launch
