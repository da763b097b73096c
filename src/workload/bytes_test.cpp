#include "workload/bytes.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdio>

#include "base/rng.h"

namespace partita::workload {
namespace {

// All lines joined by '|', or the error after "!".
std::string lines_of(std::string_view text) {
  Result<LineReader> reader = LineReader::open(Input::memory(text, "t"));
  if (!reader) return "!" + reader.error().message;
  std::string joined;
  std::string_view line;
  while (true) {
    const Result<bool> more = reader->next(line);
    if (!more) return joined + "!" + more.error().message;
    if (!*more) return joined;
    joined.append(line).push_back('|');
  }
}

std::string zstd_of(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string gzip_of(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string long_text() {
  Rng rng(1);
  std::string text;
  while (text.size() < 3'000'000) {
    text += std::to_string(rng.next());
    text += rng.below(2) == 0 ? "\n" : "\r\n";
  }
  return text;
}

TEST(LineReader, LinesEndWithLineFeedOrWithBothOrWithTheFile) {
  EXPECT_EQ(lines_of("a\nb\r\nc"), "a|b|c|");
  EXPECT_EQ(lines_of("a\n"), "a|");
  EXPECT_EQ(lines_of("\n\n"), "||");
  EXPECT_EQ(lines_of(""), "");
  EXPECT_EQ(lines_of("a\rb\n"), "a\rb|");
}

TEST(LineReader, AByteOrderMarkIsNotPartOfTheFirstLine) {
  EXPECT_EQ(lines_of("\xef\xbb\xbfid\nb"), "id|b|");
  EXPECT_EQ(lines_of("a\n\xef\xbb\xbf"), "a|\xef\xbb\xbf|");
}

TEST(LineReader, ANulByteIsRefusedWithItsLine) {
  EXPECT_EQ(lines_of(std::string_view("a\nb\0c\n", 6)),
            "a|!t line 2: found a NUL byte, wanted text");
}

TEST(LineReader, ALineOfTheLimitIsReadAndALongerOneIsRefused) {
  const std::string limit(kLineBytesMax, 'x');
  EXPECT_EQ(lines_of(limit + "\na"), limit + "|a|");
  EXPECT_EQ(lines_of(limit + "x\na"), "!t line 1: longer than 1048576 bytes");
  EXPECT_EQ(lines_of(std::string(10 * kLineBytesMax, 'x')), "!t line 1: longer than 1048576 bytes");
}

TEST(LineReader, ZstdAndGzipAreReadAsThePlainText) {
  const std::string text = long_text();
  const std::string expected = lines_of(text);
  EXPECT_EQ(lines_of(zstd_of(text)), expected);
  EXPECT_EQ(lines_of(gzip_of(text)), expected);
  EXPECT_EQ(lines_of(zstd_of("")), "");
  EXPECT_EQ(lines_of(gzip_of("")), "");
}

TEST(LineReader, CompressedPiecesOneAfterTheOtherAreOneFile) {
  EXPECT_EQ(lines_of(zstd_of("a\nb") + zstd_of("c\n")), "a|bc|");
  EXPECT_EQ(lines_of(gzip_of("a\nb") + gzip_of("c\n")), "a|bc|");
}

TEST(LineReader, CompressedDataCutShortIsRefused) {
  const std::string text = long_text();
  for (const std::string& whole : {zstd_of(text), gzip_of(text)}) {
    const std::string found = lines_of(std::string_view(whole).substr(0, whole.size() / 2));
    EXPECT_TRUE(
        found.ends_with("!t: the compressed data ends in the middle; the file is cut short"));
  }
}

TEST(LineReader, DamagedCompressedDataIsRefused) {
  std::string zstd = zstd_of(long_text());
  for (std::size_t i = 10; i < 60; ++i) zstd[i] = '\x55';
  EXPECT_NE(lines_of(zstd).find("!t: damaged zstd data ("), std::string::npos);
  std::string gzip = gzip_of(long_text());
  for (std::size_t i = 10; i < 60; ++i) gzip[i] = '\x55';
  EXPECT_NE(lines_of(gzip).find("!t: damaged gzip data ("), std::string::npos);
}

TEST(LineReader, AMissingFileAndADirectoryAreRefusedByName) {
  EXPECT_EQ(LineReader::open(Input::file("/nonexistent/jobs.csv")).error().message,
            "cannot read /nonexistent/jobs.csv: No such file or directory");
  EXPECT_EQ(LineReader::open(Input::file("/")).error().message, "cannot read /: Is a directory");
}

TEST(LineReader, ProgressIsThePartOfTheInputConsumed) {
  const std::string text = long_text();
  Result<LineReader> reader = LineReader::open(Input::memory(text, "t"));
  ASSERT_TRUE(reader.ok());
  std::string_view line;
  double last = 0;
  while (*reader->next(line)) {
    EXPECT_GE(reader->progress(), last);
    last = reader->progress();
  }
  EXPECT_EQ(last, 1);
}

TEST(LineReader, AFileIsReadFromDisk) {
  char path[] = "/tmp/partita_bytes_test_XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(write(descriptor, "x\ny\n", 4), 4);
  close(descriptor);
  Result<LineReader> reader = LineReader::open(Input::file(path));
  std::string_view line;
  EXPECT_TRUE(*reader->next(line));
  EXPECT_EQ(line, "x");
  EXPECT_EQ(reader->progress(), 1);
  EXPECT_EQ(reader->line_number(), 1U);
  std::remove(path);
}

}  // namespace
}  // namespace partita::workload
