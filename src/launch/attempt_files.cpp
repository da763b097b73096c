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
#include "base/text.h"
#include "base/whole_file.h"

namespace partita::launch {
namespace {

// In the order in which they are removed; the supervisor relies on the first and the last.
constexpr std::array kEndings{"spec", "lock", "pid", "stop", "exit", "claim"};
constexpr std::size_t kFileBytesMax = 4U << 20U;

Error failed(const std::string& path) {
  return {fmt::format("{}: {}", path, std::strerror(errno))};
}

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

// Lists of texts without null bytes: each text and list is ended by one.
void put(std::string& text, std::string_view each) {
  text += each;
  text += '\0';
}

void put(std::string& text, const std::vector<std::string>& list) {
  put(text, std::to_string(list.size()));
  for (const std::string& each : list) put(text, each);
}

class Texts {
 public:
  explicit Texts(std::string_view text) : text_(text) {}

  std::string next() {
    const auto end = text_.find('\0');
    if (end == std::string_view::npos) {
      good = false;
      return {};
    }
    std::string each(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return each;
  }
  std::int64_t number() {
    const auto value = parse_int(next());
    good = good && value.has_value();
    return value.value_or(0);
  }
  std::vector<std::string> list() {
    const std::int64_t count = number();
    std::vector<std::string> list;
    for (std::int64_t i = 0; good && i < count; ++i) list.push_back(next());
    return list;
  }

  bool at_end() const { return text_.empty(); }

  bool good = true;

 private:
  std::string_view text_;
};

void put_confinement(std::string& text, const Confinement& confinement) {
  put(text, confinement.cgroup);
  put(text, std::to_string(confinement.memory_max));
  put(text, std::to_string(confinement.pids_max));
  std::vector<std::string> governed;
  for (const std::uint32_t major : confinement.devices.governed) {
    governed.push_back(std::to_string(major));
  }
  put(text, governed);
  std::vector<std::string> allowed;
  for (const DeviceNode& node : confinement.devices.allowed) {
    allowed.push_back(std::to_string(node.major));
    allowed.push_back(std::to_string(node.minor));
  }
  put(text, allowed);
}

Confinement read_confinement(Texts& texts) {
  const auto number = [](const std::string& text) {
    return static_cast<std::uint32_t>(parse_int(text).value_or(0));
  };
  Confinement confinement;
  confinement.cgroup = texts.next();
  confinement.memory_max = static_cast<std::uint64_t>(texts.number());
  confinement.pids_max = static_cast<std::uint64_t>(texts.number());
  for (const std::string& each : texts.list()) {
    confinement.devices.governed.push_back(number(each));
  }
  const std::vector<std::string> allowed = texts.list();
  for (std::size_t i = 0; i + 1 < allowed.size(); i += 2) {
    confinement.devices.allowed.push_back({number(allowed[i]), number(allowed[i + 1])});
  }
  return confinement;
}

std::string report_text(const Report& report) {
  std::string text;
  put(text, std::to_string(static_cast<int>(report.kind)));
  put(text, std::to_string(report.pid));
  put(text, std::to_string(report.exit_code));
  put(text, std::to_string(report.signal));
  put(text, std::to_string(report.at.count));
  put(text, report.message);
  put(text, report.over_time ? "1" : "0");
  return text;
}

std::optional<Report> parse_report(AttemptKey key, const std::optional<std::string>& text) {
  if (!text) return {};
  Texts texts(*text);
  Report report;
  report.key = key;
  report.kind = static_cast<Report::Kind>(texts.number());
  report.pid = static_cast<int>(texts.number());
  report.exit_code = static_cast<int>(texts.number());
  report.signal = static_cast<int>(texts.number());
  report.at = Micros{texts.number()};
  report.message = texts.next();
  // A supervisor that is older than we are did not write the rest.
  if (!texts.at_end()) report.over_time = texts.number() != 0;
  if (!texts.good) return {};
  return report;
}

}  // namespace

std::string AttemptFiles::path(AttemptKey key, const char* ending) const {
  return fmt::format("{}/run/{}.{}", folder_, text_of(key), ending);
}

std::string AttemptFiles::output_path(std::int64_t job) const {
  return fmt::format("{}/output/{}", folder_, job);
}

// The name is a number, one step below a folder that is no link itself: there is no other way for
// it to lead.
int AttemptFiles::open_output(std::int64_t job) const {
  const std::string folder = folder_ + "/output";
  const Fd output(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (output.get() < 0) return -1;
  const std::string name = std::to_string(job);
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
  std::string text;
  put(text, start.argv);
  put(text, start.environment);
  put(text, start.directory);
  put(text, std::to_string(start.owner.uid));
  put(text, std::to_string(start.owner.gid));
  put(text, start.checkpoint);
  put(text, std::to_string(start.time_limit.count));
  put(text, std::to_string(start.output_bytes_max));
  put_confinement(text, start.confinement);
  return write_whole(path(start.key, "spec"), text);
}

Result<Start> AttemptFiles::read_spec(AttemptKey key) const {
  const auto text = read_whole(path(key, "spec"));
  if (!text) return Error{path(key, "spec") + " cannot be read"};
  Texts texts(*text);
  Start start;
  start.key = key;
  start.argv = texts.list();
  start.environment = texts.list();
  start.directory = texts.next();
  start.owner.uid = static_cast<std::uint32_t>(texts.number());
  start.owner.gid = static_cast<std::uint32_t>(texts.number());
  start.checkpoint = texts.list();
  start.time_limit = Micros{texts.number()};
  start.output_bytes_max = static_cast<std::uint64_t>(texts.number());
  start.confinement = read_confinement(texts);
  if (!texts.good || start.argv.empty()) return Error{path(key, "spec") + " is not whole"};
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
  return write_whole(path(key, "pid"), report_text(report));
}

Status AttemptFiles::write_end(const Report& report) const {
  return write_whole(path(report.key, "exit"), report_text(report), Keep::kPowerCut);
}

std::optional<Report> AttemptFiles::read_pid(AttemptKey key) const {
  return parse_report(key, read_whole(path(key, "pid")));
}

std::optional<Report> AttemptFiles::read_end(AttemptKey key) const {
  return parse_report(key, read_whole(path(key, "exit")));
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
  return AttemptKey{*job, *number};
}

}  // namespace partita::launch
