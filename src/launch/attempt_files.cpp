#include "launch/attempt_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/failpoint.h"
#include "base/fd.h"
#include "base/fnv.h"
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

// Whole or not there: written beside and renamed. After an error errno says which.
Status write_whole(const std::string& path, std::string_view text, Keep keep = Keep::kWhileUp) {
  const std::string beside = path + ".new";
  Status written;
  {
    const Fd fd(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.get() < 0) return failed(beside);
    written = write_all(fd.get(), text, beside);
    if (written.ok() && keep == Keep::kPowerCut && ::fdatasync(fd.get()) != 0) {
      written = failed(beside);
    }
  }
  if (written.ok() && ::rename(beside.c_str(), path.c_str()) != 0) written = failed(path);
  if (written.ok()) return {};
  const int error = errno;
  ::unlink(beside.c_str());  // a full disk is not the place for halves
  errno = error;
  return written;
}

// What is taken of the disk before an attempt begins: more than is ever written there.
struct Reserved {
  const char* ending;
  std::size_t bytes;
};
constexpr std::size_t kStopBytes = 16;
constexpr std::size_t kPidBytes = 512;
constexpr std::size_t kExitBytes = 8192;
constexpr std::array kReserved = std::to_array<Reserved>(
    {{"lock", 32}, {"pid", kPidBytes}, {"stop", kStopBytes}, {"exit", kExitBytes}});

// Real blocks of the disk, so that writing to them later takes no more. 0 or the error.
int make_reserved(const std::string& path, std::size_t bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) return errno;
  if (const int failed = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes))) return failed;
  // Where a part of a file that was never written is kept apart, writing to it may take space.
  const std::string zeros(bytes, '\0');
  return ::pwrite(fd.get(), zeros.data(), bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : errno;
}

// With space for a line that says why there is no more. Something else in the place of the file is
// for the supervisor to refuse.
int reserve_output(const std::string& path) {
  constexpr off_t kLineBytes = 256;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat file {};
  const bool good = fd.get() >= 0 && ::fstat(fd.get(), &file) == 0 &&
                    ::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, file.st_size, kLineBytes) == 0;
  return !good && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

// Over what was reserved. A write that was torn is told by the sum; what is shorter than before is
// followed by null bytes.
Status write_in_place(int fd, const std::string& path, std::string text, std::size_t bytes) {
  if (text.size() > bytes) return Error{fmt::format("{} has space for {} bytes", path, bytes)};
  text.resize(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t size = ::pwrite(fd, text.data() + done, bytes - done, static_cast<off_t>(done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failed(path);
    done += static_cast<std::size_t>(size);
  }
  return {};
}

constexpr std::string_view kSealed = "partita-record ";

std::uint64_t sum_of(std::string_view text) {
  Fnv sum;
  sum.add(text);
  return sum.value();
}

// "partita-record SIZE SUM\n" and the record.
std::string sealed(std::string_view record) {
  return fmt::format("{}{} {:016x}\n{}", kSealed, record.size(), sum_of(record), record);
}

// The record, or nothing where it is not whole. What older supervisors wrote has no seal.
std::optional<std::string> unsealed(const std::string& text) {
  if (text.empty() || text.front() == '\0') return {};  // reserved, and not written yet
  if (!text.starts_with(kSealed)) return text;
  const auto line = text.find('\n');
  if (line == std::string::npos) return {};
  const auto words =
      split(std::string_view(text).substr(kSealed.size(), line - kSealed.size()), ' ');
  const auto size = words.size() == 2 ? parse_int(words[0]) : std::nullopt;
  if (!size || *size < 0 || static_cast<std::size_t>(*size) > text.size() - line - 1) return {};
  std::string record = text.substr(line + 1, static_cast<std::size_t>(*size));
  if (fmt::format("{:016x}", sum_of(record)) != words[1]) return {};
  return record;
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
  if (!text) return {};
  const auto record = unsealed(*text);
  Report report;
  report.key = key;
  if (!record || !read_record(*record, report)) return {};
  return report;
}

// Over the reserved file where there is one. A daemon of before there were any reads what is beside
// it and renamed.
Status write_report(const Report& report, const std::string& path, std::size_t bytes, Keep keep) {
  const std::string record = text_of_record(report);
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) return write_whole(path, record, keep);
  if (const Status written = write_in_place(fd.get(), path, sealed(record), bytes); !written) {
    return written;
  }
  if (keep == Keep::kPowerCut && ::fsync(fd.get()) != 0) return failed(path);
  return {};
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

int AttemptFiles::reserve(AttemptKey key) const {
  int error = 0;
  for (const Reserved& each : kReserved) {
    if (error == 0) error = make_reserved(path(key, each.ending), each.bytes);
  }
  if (error == 0) error = reserve_output(output_path(key.job));
  if (error != 0) remove(key);
  return error;
}

bool AttemptFiles::can_write() const {
  constexpr std::size_t kAttempt = 64 * 1024;  // its specification may be long
  const std::string path = folder_ + "/run/probe";
  const bool written = make_reserved(path, kAttempt) == 0;
  ::unlink(path.c_str());
  return written;
}

bool AttemptFiles::has_spec(AttemptKey key) const {
  return ::access(path(key, "spec").c_str(), F_OK) == 0;
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
  // First written, then cut: what is reserved is overwritten and never given back before.
  if (::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) return -1;
  if (::ftruncate(fd.get(), static_cast<off_t>(pid.size())) != 0) return -1;
  return fd.release();
}

std::optional<int> AttemptFiles::supervisor(AttemptKey key) const {
  const Fd fd(::open(path(key, "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) return {};
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0) return {};  // nobody holds it
  const auto text = read_whole(path(key, "lock"));
  const auto pid = text ? parse_int(text->c_str()) : std::nullopt;  // null bytes may follow
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
  if (fd.get() >= 0) {
    // Without the word it is ours all the same; who asks after a crash then takes it for lost.
    [[maybe_unused]] const Status told = write_all(fd.get(), "revoked", "claim");
    return true;
  }
  if (errno == EEXIST) return false;
  // No space for a claim. A supervisor that claims later looks for this once more, and leaves.
  ::unlink(path(key, "spec").c_str());
  return ::access(path(key, "claim").c_str(), F_OK) != 0;
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
  report.key = key;
  return write_report(report, path(key, "pid"), kPidBytes, Keep::kWhileUp);
}

Status AttemptFiles::write_end(const Report& report) const {
  return write_report(report, path(report.key, "exit"), kExitBytes, Keep::kPowerCut);
}

std::optional<Report> AttemptFiles::read_pid(AttemptKey key) const {
  return read_report(key, path(key, "pid"));
}

std::optional<Report> AttemptFiles::read_end(AttemptKey key) const {
  return read_report(key, path(key, "exit"));
}

Status AttemptFiles::write_stop(AttemptKey key, bool checkpoint) const {
  const std::string where = path(key, "stop");
  const std::string word = checkpoint ? "checkpoint" : "now";
  const Fd fd(::open(where.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0) return write_whole(where, word);
  return write_in_place(fd.get(), where, word, kStopBytes);
}

std::optional<bool> AttemptFiles::read_stop(AttemptKey key) const {
  const auto text = read_whole(path(key, "stop"));
  if (!text || text->empty() || text->front() == '\0') return {};
  return text->starts_with("checkpoint");
}

void AttemptFiles::remove(AttemptKey key) const {
  for (const char* ending : kEndings) ::unlink(path(key, ending).c_str());
  FAILPOINT(launch_forgetting);
}

void AttemptFiles::remove_except(const std::set<AttemptKey>& kept) const {
  std::vector<std::string> over;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/run", ignored)) {
    const auto key = key_of(entry.path().filename().string());
    if (key && !kept.contains(*key)) over.push_back(entry.path().string());
  }
  for (const std::string& path : over) ::unlink(path.c_str());
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
