#include "experiment/results/result_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>

#include "base/check.h"
#include "base/whole_file.h"

namespace partita::experiment {
namespace {

// The bytes up to the end of the last whole line.
std::string_view whole_lines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Between opening and locking, another writer may have finished and replaced the file.
bool is_file_of(int fd, const std::string& path) {
  struct stat open {};
  struct stat named {};
  if (::fstat(fd, &open) != 0 || ::stat(path.c_str(), &named) != 0) return false;
  return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Status drop_cut_line(int fd, const std::string& path) {
  const Result<std::string> text = read_whole_file(path);
  if (!text) return text.error();
  const std::size_t whole = whole_lines(*text).size();
  if (whole == text->size()) return {};
  if (::ftruncate(fd, static_cast<off_t>(whole)) != 0) return file_error("write", path);
  return {};
}

Status lock_and_repair(int fd, const std::string& path) {
  struct stat open {};
  if (::fstat(fd, &open) != 0) return file_error("write", path);
  if (!S_ISREG(open.st_mode)) return Error{fmt::format("cannot write {}: no plain file", path)};
  const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) return file_error("lock", path);
  if (!locked || !is_file_of(fd, path)) {
    return Error{fmt::format("cannot write {}: another program is writing it", path)};
  }
  return drop_cut_line(fd, path);
}

}  // namespace

Result<std::vector<RunRecord>> read_results(const std::string& path) {
  const Result<std::string> text = read_whole_file(path);
  if (!text) return text.error();
  std::vector<RunRecord> records;
  std::map<RunKey, std::size_t> line_of;
  std::string_view rest = whole_lines(*text);
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    Result<RunRecord> record = parse_record(rest.substr(0, end));
    if (!record) return Error{fmt::format("{}:{}: {}", path, line, record.error().message)};
    const auto [first, is_new] = line_of.try_emplace(record->key(), line);
    if (!is_new) {
      return Error{fmt::format("{}:{}: the run {} is on line {} already", path, line,
                               record->key().text(), first->second)};
    }
    records.push_back(std::move(*record));
    rest.remove_prefix(end + 1);
  }
  return records;
}

Status write_results(const std::string& path, std::vector<RunRecord> records) {
  std::ranges::sort(records, {}, &RunRecord::key);
  std::string text;
  for (const RunRecord& record : records) {
    CHECK(check_record(record).ok());
    text += format_record(record);
    text += '\n';
  }
  return write_whole_file(path, text);
}

Result<std::unique_ptr<ResultWriter>> ResultWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (fd < 0) return file_error("write", path);
  std::unique_ptr<ResultWriter> writer(new ResultWriter(fd, path));
  if (const Status ready = lock_and_repair(fd, path); !ready) return ready.error();
  return writer;
}

ResultWriter::~ResultWriter() {
  ::close(fd_);
}

Status ResultWriter::append(const RunRecord& record) {
  if (failed_) return Error{fmt::format("cannot write {}: it failed before", path_)};
  if (const Status sound = check_record(record); !sound) {
    return Error{fmt::format("the run {}: {}", record.key().text(), sound.error().message)};
  }
  const Status written = write_all(fd_, format_record(record) + '\n', path_);
  failed_ = !written.ok();
  return written;
}

Status ResultWriter::clear() {
  if (::ftruncate(fd_, 0) != 0) return file_error("write", path_);
  return {};
}

}  // namespace partita::experiment
