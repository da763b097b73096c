#include "workload/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace partita::workload {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

Error cannot_read(const std::string& name, int error) {
  return {fmt::format("cannot read {}: {}", name, std::strerror(error))};
}

class FileBytes final : public ByteStream {
 public:
  FileBytes(int descriptor, bool owned, std::string name)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)) {
    struct stat facts {};
    if (fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode)) {
      size_ = static_cast<double>(facts.st_size);
    }
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override {
    if (owned_) ::close(descriptor_);
  }

  Result<std::size_t> read(char* into, std::size_t size) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, into, size);
      if (got >= 0) {
        consumed_ += static_cast<double>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return cannot_read(name_, errno);
    }
  }

  double progress() const override {
    if (size_ < 0) return -1;
    return size_ == 0 ? 1 : std::min(1.0, consumed_ / size_);
  }

 private:
  int descriptor_;
  bool owned_;
  std::string name_;
  double size_ = -1;
  double consumed_ = 0;
};

class MemoryBytes final : public ByteStream {
 public:
  explicit MemoryBytes(std::string_view text) : text_(text) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t got = text_.copy(into, size, at_);
    at_ += got;
    return got;
  }

  double progress() const override {
    return text_.empty() ? 1 : static_cast<double>(at_) / static_cast<double>(text_.size());
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// A stream with a look at its first bytes.
class Buffered {
 public:
  Buffered(std::unique_ptr<ByteStream> inner) : inner_(std::move(inner)), buffer_(kChunkBytes) {}

  Status peek(std::size_t wanted) {
    while (end_ - begin_ < wanted) {
      const Result<std::size_t> got = inner_->read(buffer_.data() + end_, buffer_.size() - end_);
      if (!got) return got.error();
      if (*got == 0) break;
      end_ += *got;
    }
    return {};
  }

  // What is at hand, reading more when that is nothing; empty at the end.
  Result<std::string_view> available() {
    if (begin_ == end_) {
      begin_ = end_ = 0;
      if (const Status status = peek(1); !status) return status.error();
    }
    return at_hand();
  }

  std::string_view at_hand() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t size) { begin_ += size; }
  double progress() const { return inner_->progress(); }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class PlainBytes final : public ByteStream {
 public:
  explicit PlainBytes(Buffered input) : input_(std::move(input)) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    const Result<std::string_view> bytes = input_.available();
    if (!bytes) return bytes.error();
    const std::size_t got = bytes->copy(into, size);
    input_.consume(got);
    return got;
  }
  double progress() const override { return input_.progress(); }

 private:
  Buffered input_;
};

Error cut_short(const std::string& name) {
  return {fmt::format("{}: the compressed data ends in the middle; the file is cut short", name)};
}

class ZstdBytes final : public ByteStream {
 public:
  ZstdBytes(Buffered input, std::string name)
      : input_(std::move(input)), name_(std::move(name)), stream_(ZSTD_createDStream()) {
    CHECK(stream_ != nullptr);
  }
  ZstdBytes(const ZstdBytes&) = delete;
  ZstdBytes& operator=(const ZstdBytes&) = delete;
  ~ZstdBytes() override { ZSTD_freeDStream(stream_); }

  Result<std::size_t> read(char* into, std::size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos == 0) {
      const Result<std::string_view> bytes = input_.available();
      if (!bytes) return bytes.error();
      if (bytes->empty() && frame_done_) return std::size_t{0};
      ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
      const std::size_t hint = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(hint) != 0) {
        return Error{fmt::format("{}: damaged zstd data ({})", name_, ZSTD_getErrorName(hint))};
      }
      if (bytes->empty() && out.pos == 0) return cut_short(name_);
      frame_done_ = hint == 0;
      input_.consume(in.pos);
    }
    return out.pos;
  }
  double progress() const override { return input_.progress(); }

 private:
  Buffered input_;
  std::string name_;
  ZSTD_DStream* stream_;
  bool frame_done_ = false;
};

class GzipBytes final : public ByteStream {
 public:
  GzipBytes(Buffered input, std::string name) : input_(std::move(input)), name_(std::move(name)) {
    constexpr int kGzipWrapper = 16;
    CHECK(inflateInit2(&stream_, MAX_WBITS + kGzipWrapper) == Z_OK);
  }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;
  ~GzipBytes() override { inflateEnd(&stream_); }

  Result<std::size_t> read(char* into, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(std::min(size, kChunkBytes));
    const uInt space = stream_.avail_out;
    while (stream_.avail_out == space) {
      const Result<std::string_view> bytes = input_.available();
      if (!bytes) return bytes.error();
      if (bytes->empty() && member_done_) return std::size_t{0};
      if (bytes->empty()) return cut_short(name_);
      if (member_done_) inflateReset(&stream_);
      if (const Status status = inflate_some(*bytes); !status) return status.error();
    }
    return std::size_t{space - stream_.avail_out};
  }
  double progress() const override { return input_.progress(); }

 private:
  Status inflate_some(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Error{fmt::format("{}: damaged gzip data ({})", name_,
                               stream_.msg == nullptr ? "unreadable" : stream_.msg)};
    }
    member_done_ = code == Z_STREAM_END;
    input_.consume(bytes.size() - stream_.avail_in);
    return {};
  }

  Buffered input_;
  std::string name_;
  z_stream stream_{};
  bool member_done_ = false;
};

Result<std::unique_ptr<ByteStream>> open_raw(const Input& input) {
  using Made = std::unique_ptr<ByteStream>;
  if (input.in_memory) return Made(std::make_unique<MemoryBytes>(input.text));
  if (input.name == "-") {
    return Made(std::make_unique<FileBytes>(STDIN_FILENO, false, "standard input"));
  }
  const int descriptor = ::open(input.name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(input.name, errno);
  return Made(std::make_unique<FileBytes>(descriptor, true, input.name));
}

std::string shown_name(const Input& input) {
  return input.name == "-" && !input.in_memory ? "standard input" : input.name;
}

}  // namespace

bool Input::can_reopen() const {
  if (in_memory) return true;
  struct stat facts {};
  return name != "-" && stat(name.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

Result<std::unique_ptr<ByteStream>> open_bytes(const Input& input) {
  using Made = std::unique_ptr<ByteStream>;
  constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
  constexpr std::string_view kGzipMagic = "\x1f\x8b";
  Result<Made> raw = open_raw(input);
  if (!raw) return raw.error();
  Buffered buffered(*std::move(raw));
  if (const Status status = buffered.peek(kZstdMagic.size()); !status) return status.error();
  const std::string_view first = buffered.at_hand();
  if (first.starts_with(kZstdMagic)) {
    return Made(std::make_unique<ZstdBytes>(std::move(buffered), shown_name(input)));
  }
  if (first.starts_with(kGzipMagic)) {
    return Made(std::make_unique<GzipBytes>(std::move(buffered), shown_name(input)));
  }
  return Made(std::make_unique<PlainBytes>(std::move(buffered)));
}

LineReader::LineReader(std::unique_ptr<ByteStream> stream, std::string name)
    : stream_(std::move(stream)), name_(std::move(name)), buffer_(kChunkBytes) {}

Result<LineReader> LineReader::open(const Input& input) {
  Result<std::unique_ptr<ByteStream>> stream = open_bytes(input);
  if (!stream) return stream.error();
  return LineReader(*std::move(stream), shown_name(input));
}

Result<bool> LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const Result<std::size_t> got = stream_->read(buffer_.data() + end_, buffer_.size() - end_);
  if (!got) return got.error();
  end_ += *got;
  return *got > 0;
}

Result<bool> LineReader::give(std::string_view raw, std::string_view& line) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  ++line_number_;
  if (raw.size() > kLineBytesMax) {
    return Error{
        fmt::format("{} line {}: longer than {} bytes", name_, line_number_, kLineBytesMax)};
  }
  if (line_number_ == 1 && raw.starts_with(kByteOrderMark)) raw.remove_prefix(3);
  if (raw.ends_with('\r')) raw.remove_suffix(1);
  if (!raw.empty() && std::memchr(raw.data(), '\0', raw.size()) != nullptr) {
    return Error{fmt::format("{} line {}: found a NUL byte, wanted text", name_, line_number_)};
  }
  line = raw;
  return true;
}

Result<bool> LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* from = buffer_.data() + begin_ + searched;
    const std::size_t size = end_ - begin_ - searched;
    const auto* end = size == 0 ? nullptr : static_cast<const char*>(std::memchr(from, '\n', size));
    if (end != nullptr) {
      const std::string_view raw(buffer_.data() + begin_,
                                 static_cast<std::size_t>(end - buffer_.data()) - begin_);
      begin_ += raw.size() + 1;
      return give(raw, line);
    }
    searched += size;
    if (at_end_ || searched > kLineBytesMax) break;
    const Result<bool> more = fill();
    if (!more) return more.error();
    at_end_ = !*more;
  }
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return rest.empty() ? Result<bool>(false) : give(rest, line);
}

}  // namespace partita::workload
