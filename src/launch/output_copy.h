// OutputCopy: what a job writes, on its way from its pipe to the file of its output.
//
// The job has a pipe and no file of ours, so it can write as much as it likes: what is above the
// limit is read and dropped, and the file says so once. A full disk loses output, not the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace partita::launch {

class OutputCopy {
 public:
  // The last of it is what tells why a job failed.
  static constexpr std::size_t kTailBytes = 4096;

  // Descriptors of others; `from` does not block. `most`: bytes of the file that hold output, those
  // of earlier attempts included; 0: no limit.
  OutputCopy(int from, int to, std::uint64_t most);

  // Copies what is there, at most `most` bytes of it; false when nothing more will come.
  bool copy_available(std::size_t most = SIZE_MAX);

  // The last of what came through, kept in the file or not.
  const std::string& tail() const { return tail_; }

 private:
  void keep(const char* bytes, std::size_t size);
  bool write(const char* bytes, std::size_t size);
  void remember(const char* bytes, std::size_t size);

  int from_;
  int to_;
  std::uint64_t most_;
  std::uint64_t kept_ = 0;
  bool cut_ = false;
  std::uint64_t lost_ = 0;  // bytes that could not be written, since the last that could
  std::string tail_;
};

}  // namespace partita::launch
