#include "launch/attempt_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/failpoint.h"
#include "base/fd.h"
#include "base/record_text.h"
#include "base/whole_file.h"
#include "launch/system_calls.h"

namespace partita::launch {
namespace {

// In the order in which they are removed; the supervisor relies on the first and the last.
constexpr std::array kEndings{"spec", "lock", "pid", "stop", "exit", "claim"};
constexpr std::size_t kFileBytesMax = 4U << 20U;

// Whether a file must be there after a power cut. What a machine that went down was doing is over
// in any case, so only how an attempt ended must: the rest would cost the daemon a wait for the
// disk with every start of a job.
enum class Keep : std::uint8_t { kWhileUp, kPowerCut };

// Whole or not there: written beside and renamed.
Status write_whole(const std::string& path, std::string_view text, Keep keep = Keep::kWhileUp) {
  const std::string beside = path + ".new";
  {
    const Fd fd(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.get() < 0) return failed(beside);
    if (const Status written = write_all(fd.get(), text, beside); !written) return written;
    if (keep == Keep::kPowerCut && ::fdatasync(fd.get()) != 0) return failed(beside);
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return failed(path);
  return {};
}

std::optional<std::string> read_whole(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) return {};
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < kFileBytesMax) {
    const ssize_t size = ::read(fd.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// Texts without null bytes, each ended by one.
class NullEnded {
 public:
  void put(std::string_view each) {
    text += each;
    text += '\0';
  }
  std::string text;
};

class NullEndedReader {
 public:
  explicit NullEndedReader(std::string_view text) : text_(text) {}

  std::optional<std::string_view> next() {
    const auto end = text_.find('\0');
    if (end == std::string_view::npos) return {};
    const std::string_view each = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return each;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

template <typename R>
std::string text_of_record(const R& record) {
  NullEnded out;
  for (const Encoding encoding : {Encoding::kPositional, Encoding::kTail, Encoding::kNamed}) {
    R::fields(record, TextWriter(out, encoding));
  }
  return out.text;
}

template <typename R>
bool read_record(std::string_view text, R& record) {
  NullEndedReader source(text);
  TextReader reader(source);
  reader.read(record, Encoding::kPositional);
  if (!source.at_end()) reader.read(record, Encoding::kTail);  // older than we are: without
  reader.read(record, Encoding::kNamed);
  return reader.good_to_the_end();
}

std::optional<Report> read_report(AttemptKey key, const std::string& path) {
  const auto text = read_whole(path);
  Report report;
  report.key = key;
  if (!text || !read_record(*text, report)) return {};
  return report;
}

}  // namespace

std::string AttemptFiles::path(AttemptKey key, const char* ending) const {
  return fmt::format("{}/run/{}.{}", folder_, text_of(key), ending);
}

std::string AttemptFiles::output_path(JobNumber job) const {
  return fmt::format("{}/output/{}", folder_, job);
}

// The name is a number, one step below a folder that is no link itself: there is no other way for
// it to lead.
int AttemptFiles::open_output(JobNumber job) const {
  const std::string folder = folder_ + "/output";
  const Fd output(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (output.get() < 0) return -1;
  const std::string name = std::to_string(job.value);
  Fd fd(::openat(output.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat file {};
  if (fd.get() < 0 || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return -1;
  return fd.release();
}

Status AttemptFiles::make_folders() const {
  for (const std::string& each : {folder_, folder_ + "/run", folder_ + "/output"}) {
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST) return failed(each);
  }
  return {};
}

Status AttemptFiles::write_spec(const Start& start) const {
  return write_whole(path(start.key, "spec"), text_of_record(start));
}

Result<Start> AttemptFiles::read_spec(AttemptKey key) const {
  const auto text = read_whole(path(key, "spec"));
  if (!text) return Error{path(key, "spec") + " cannot be read"};
  Start start;
  start.key = key;
  if (!read_record(*text, start) || start.argv.empty()) {
    return Error{path(key, "spec") + " is not whole"};
  }
  return start;
}

int AttemptFiles::lock(AttemptKey key) const {
  Fd fd(::open(path(key, "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0 || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return -1;
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(fd.get(), 0) != 0 || !write_all(fd.get(), pid, "lock").ok()) return -1;
  return fd.release();
}

std::optional<int> AttemptFiles::supervisor(AttemptKey key) const {
  const Fd fd(::open(path(key, "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) return {};
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0) return {};  // nobody holds it
  const auto text = read_whole(path(key, "lock"));
  const auto pid = text ? parse_int(*text) : std::nullopt;
  if (!pid) return {};
  return static_cast<int>(*pid);
}

bool AttemptFiles::claim(AttemptKey key) const {
  const Fd fd(::open(path(key, "claim").c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return fd.get() >= 0;
}

bool AttemptFiles::revoke(AttemptKey key) const {
  const Fd fd(::open(path(key, "claim").c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return fd.get() >= 0 && write_all(fd.get(), "revoked", "claim").ok();
}

bool AttemptFiles::revoked(AttemptKey key) const {
  const auto text = read_whole(path(key, "claim"));
  return text && *text == "revoked";
}

Status AttemptFiles::write_pid(AttemptKey key, int pid, Micros at) const {
  Report report;
  report.kind = Report::Kind::kStarted;
  report.pid = pid;
  report.at = at;
  return write_whole(path(key, "pid"), text_of_record(report));
}

Status AttemptFiles::write_end(const Report& report) const {
  return write_whole(path(report.key, "exit"), text_of_record(report), Keep::kPowerCut);
}

std::optional<Report> AttemptFiles::read_pid(AttemptKey key) const {
  return read_report(key, path(key, "pid"));
}

std::optional<Report> AttemptFiles::read_end(AttemptKey key) const {
  return read_report(key, path(key, "exit"));
}

Status AttemptFiles::write_stop(AttemptKey key, bool checkpoint) const {
  return write_whole(path(key, "stop"), checkpoint ? "checkpoint" : "now");
}

std::optional<bool> AttemptFiles::read_stop(AttemptKey key) const {
  const auto text = read_whole(path(key, "stop"));
  if (!text) return {};
  return *text == "checkpoint";
}

void AttemptFiles::remove(AttemptKey key) const {
  for (const char* ending : kEndings) ::unlink(path(key, ending).c_str());
  FAILPOINT(launch_forgetting);
}

std::optional<AttemptKey> key_of(std::string_view file_name) {
  const auto parts = split(file_name, '.');
  if (parts.size() < 2) return {};
  const auto job = parse_int(parts[0]);
  const auto number = parse_int(parts[1]);
  if (!job || !number) return {};
  return AttemptKey{{*job}, *number};
}

}  // namespace partita::launch
