// OutputFile: a file that is there whole or not at all.
//
// Bytes go to a temporary name beside the target, which commit() renames; without commit nothing
// stays. Devices and pipes (/dev/null, a FIFO) are written in place.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output/fd_writer.h"

namespace partita::cli {

class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> open(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  FdWriter& writer() { return writer_; }
  Status commit();

 private:
  OutputFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)), writer_(fd, path_) {}

  int fd_;
  std::string path_;
  std::string temporary_;  // empty when the target is written in place or the rename is done
  FdWriter writer_;
};

// A text as a whole file.
Status write_output(const std::string& path, std::string_view text);

}  // namespace partita::cli
