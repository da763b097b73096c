// LineReader: the lines of a file, of standard input or of a buffer, in constant memory.
//
// Zstandard and gzip data are recognised by their first bytes and decompressed on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace partita::workload {

inline constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

// Where bytes come from.
struct Input {
  std::string name;       // for messages; for files also the path, "-" is standard input
  std::string_view text;  // the bytes themselves when in_memory; they must outlive the readers
  bool in_memory = false;

  static Input file(std::string path) { return {std::move(path), {}, false}; }
  static Input memory(std::string_view text, std::string name) {
    return {std::move(name), text, true};
  }
  // Standard input and pipes give their bytes once.
  bool can_reopen() const;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // At most `size` bytes; 0 only at the end.
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  // Part of the (compressed) input consumed, 0 to 1; negative when unknown, as in a pipe.
  virtual double progress() const = 0;
};

Result<std::unique_ptr<ByteStream>> open_bytes(const Input& input);

class LineReader {
 public:
  static Result<LineReader> open(const Input& input);

  // The next line without its end (LF or CRLF) and, in the first, without a UTF-8 byte order mark;
  // valid until the next call. False at the end. A last line needs no end.
  Result<bool> next(std::string_view& line);

  std::uint64_t line_number() const { return line_number_; }  // of the last line, from 1
  const std::string& name() const { return name_; }
  double progress() const { return stream_->progress(); }

 private:
  LineReader(std::unique_ptr<ByteStream> stream, std::string name);

  Result<bool> fill();  // false at the end of the stream
  Result<bool> give(std::string_view raw, std::string_view& line);

  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes are [begin_, end_)
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
  bool at_end_ = false;
};

}  // namespace partita::workload
