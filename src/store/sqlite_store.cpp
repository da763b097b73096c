#include "store/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "base/failpoint.h"
#include "base/fd.h"
#include "store/journal_base.h"
#include "store/schema.h"
#include "store/table.h"

namespace partita::store {
namespace {

bool is_want_of_space(int error) {
  return error == ENOSPC || error == EDQUOT;
}

// The lock of the folder: held as long as the process lives, whatever kills it.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  Status take(const std::string& folder) {
    const std::string path = folder + "/lock";
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ < 0) return Error{fmt::format("{} cannot be opened: {}", path, std::strerror(errno))};
    if (!lock_with_patience()) {
      std::array<char, 32> pid{};
      const ssize_t size = ::pread(fd_, pid.data(), pid.size() - 1, 0);
      return Error{
          fmt::format("{} is in use by process {}: one daemon at a time; to look into it, "
                      "stop that or copy the folder",
                      folder, size > 0 ? pid.data() : "unknown")};
    }
    const std::string own = std::to_string(::getpid());
    // Over what is there, which takes no space. A full disk keeps nobody from looking at his jobs:
    // the lock holds without the number.
    const bool told =
        ::pwrite(fd_, own.data(), own.size(), 0) == static_cast<ssize_t>(own.size()) &&
        ::ftruncate(fd_, static_cast<off_t>(own.size())) == 0;
    if (told || is_want_of_space(errno)) return {};
    return Error{fmt::format("{} cannot be written: {}", path, std::strerror(errno))};
  }

 private:
  // A process that the last daemon was about to start has the lock as well until it is another
  // program, which takes it a moment.
  bool lock_with_patience() const {
    constexpr int kTries = 40;
    constexpr int kPauseMicros = 25'000;
    for (int i = 0; i < kTries; ++i) {
      if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return true;
      ::usleep(kPauseMicros);
    }
    return false;
  }

  int fd_ = -1;
};

// Made by us, so that it and the files beside it, which take its mode, are its owner's only. A file
// that is there but empty was a store once.
Status make_file(const std::string& path) {
  struct stat before {};
  const bool there = ::lstat(path.c_str(), &before) == 0;
  if (there && before.st_size == 0) {
    return Error{
        fmt::format("the store {} is empty, so all it held is gone; restore a copy, or "
                    "remove it to start over",
                    path)};
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return Error{fmt::format("{} cannot be opened: {}", path, std::strerror(errno))};
  ::close(file);
  return {};
}

// Statements beside those of each table; prepared once.
struct Statements {
  Statement begin, commit, rollback;
  Statement forget_attempts, forget_events;
  Statement events_of_job, events_of_all, last_event;
  Statement turns_from, turns_sum, last_turn, first_turn, first_time, drop_turns, set_first_turn;
};

struct StatementText {
  Statement Statements::*member;
  std::string sql;
};

std::vector<StatementText> statement_texts() {
  const std::string event = TableOf<EventRow>::columns();
  return {
      {&Statements::begin, "BEGIN IMMEDIATE"},
      {&Statements::commit, "COMMIT"},
      {&Statements::rollback, "ROLLBACK"},
      {&Statements::forget_attempts, "DELETE FROM attempts WHERE job=?"},
      {&Statements::forget_events, "DELETE FROM events WHERE job=?"},
      {&Statements::events_of_job,
       "SELECT " + event +
           " FROM (SELECT * FROM events WHERE job=? ORDER BY sequence DESC LIMIT ?)"
           " ORDER BY sequence"},
      {&Statements::events_of_all, "SELECT " + event +
                                       " FROM (SELECT * FROM events ORDER BY sequence DESC LIMIT ?)"
                                       " ORDER BY sequence"},
      {&Statements::last_event, "SELECT coalesce(max(sequence),0) FROM events"},
      {&Statements::turns_from, "SELECT " + TableOf<TurnRow>::columns() +
                                    " FROM turns WHERE number>=? ORDER BY number LIMIT ?"},
      {&Statements::turns_sum, "SELECT coalesce(sum(length(CAST(inputs AS BLOB))),0) FROM turns"},
      {&Statements::last_turn, "SELECT number, kind FROM turns ORDER BY number DESC LIMIT 1"},
      {&Statements::first_turn, "SELECT first FROM journal"},
      {&Statements::first_time,
       "SELECT coalesce(min(at_us),0) FROM turns WHERE number IN "
       "(SELECT min(number) FROM turns)"},
      {&Statements::drop_turns, "DELETE FROM turns"},
      {&Statements::set_first_turn, "UPDATE journal SET first=?"},
  };
}

// Those of jobs go with their jobs; of the others the last 100,000 are kept.
constexpr const char* kForgetOldEvents =
    "DELETE FROM events WHERE job=0 AND sequence <= (SELECT coalesce(max(sequence),0) FROM events) "
    "- 100000";

class SqliteStore : public Store {
 public:
  ~SqliteStore() override;

  Status open(const std::string& folder, const OpenOptions& options);
  Status commit(const Batch& batch) override;
  bool out_of_space() const override { return out_of_space_; }
  Status reserve(std::uint64_t bytes) override;
  Result<Contents> load() override;
  Result<std::vector<EventRow>> events(JobNumber job, std::size_t most) override;
  Result<JournalSize> journal_size() override;
  Result<std::vector<TurnRow>> turns(std::int64_t from, std::size_t most) override;
  Result<Contents> journal_base() override;
  Status begin_journal_anew() override;

 private:
  bool write(const Batch& batch);
  bool forget(const Batch& batch);
  // The only row of a statement, as a number.
  std::optional<std::int64_t> number_of(Statement& statement);
  Status finish_base();

  template <typename Row>
  TableOf<Row>& table() {
    return std::get<TableOf<Row>>(tables_);
  }
  template <typename Row>
  bool put(const std::vector<Row>& rows) {
    return std::ranges::all_of(rows, [this](const Row& row) { return table<Row>().put(row); });
  }
  // Reads all rows of a statement; a wrong sum, a broken page and one that is not kept are errors.
  template <typename Row>
  Status read_each(Statement& statement, const auto& keep);
  template <typename Row>
  Status read_all(Statement& statement, std::vector<Row>& rows) {
    return read_each<Row>(statement, [&](Row& row) {
      rows.push_back(std::move(row));
      return true;
    });
  }
  template <typename Row>
  Status read_all(std::vector<Row>& rows) {
    return read_all(table<Row>().all(), rows);
  }
  Status read_jobs(std::vector<JobRow>& jobs);
  std::string why() const { return sqlite3_errmsg(database_); }
  bool execute(const char* sql) {
    return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  Status check_whole_file();
  // The sentence for a write that failed; nothing of it stays.
  Error not_written();
  // Statements are run, and rolled back where that fails.
  bool in_transaction(const auto& statements);

  FolderLock lock_;
  std::string folder_;
  std::string path_;
  sqlite3* database_ = nullptr;
  Statements sql_;
  Tables tables_;
  bool failed_ = false;
  bool out_of_space_ = false;
  bool base_missing_ = false;  // it could not be made yet for want of space
};

SqliteStore::~SqliteStore() {
  sql_ = Statements{};
  tables_ = Tables{};
  sqlite3_close(database_);
}

Status SqliteStore::open(const std::string& folder, const OpenOptions& options) {
  folder_ = folder;
  path_ = store_file(folder);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{fmt::format("{} cannot be made: {}", folder, std::strerror(errno))};
  }
  const Status locked = lock_.take(folder);
  if (!locked) return locked;
  const Status made = make_file(path_);
  if (!made) return made;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    return Error{fmt::format("the store {} cannot be opened: {}", path_, why())};
  }
  // The pages of a file that was cut or overwritten may ask for absurd amounts.
  sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, 64 << 20);
  const bool set = execute("PRAGMA locking_mode=EXCLUSIVE") && execute("PRAGMA journal_mode=WAL") &&
                   execute("PRAGMA synchronous=FULL") &&
                   execute("PRAGMA wal_autocheckpoint=4000") && execute("PRAGMA cell_size_check=1");
  if (!set) return damaged(path_, why());
  if (options.check_whole_file) {
    const Status whole = check_whole_file();
    if (!whole) return whole;
  }
  const Status present = bring_to_present(database_, path_);
  if (!present) return present;
  if (!execute(kForgetOldEvents)) {
    const Error error = not_written();
    if (!out_of_space_) return damaged(path_, error.message);
  }
  bool prepared =
      std::apply([this](auto&... table) { return (table.prepare(database_) && ...); }, tables_);
  for (const StatementText& text : statement_texts()) {
    sql_.*text.member = Statement(database_, text.sql);
    prepared = prepared && (sql_.*text.member).prepared();
  }
  if (!prepared) return damaged(path_, why());
  FAILPOINT(store_opened);
  const Status based = options.has_journal ? finish_base() : Status{};
  base_missing_ = !based.ok() && out_of_space_;
  return base_missing_ ? Status{} : based;
}

Status SqliteStore::check_whole_file() {
  Statement check(database_, "PRAGMA integrity_check(1)");
  if (!check.prepared() || !check.next()) return damaged(path_, why());
  const std::string answer = check.text();
  if (answer != "ok") return damaged(path_, answer);
  return {};
}

bool SqliteStore::forget(const Batch& batch) {
  return std::ranges::all_of(batch.forgotten_jobs, [this](JobNumber job) {
    const std::int64_t id = job.value;
    return table<JobRow>().drop(id) && table<JobProgress>().drop(id) &&
           sql_.forget_attempts.bind(id).run() && sql_.forget_events.bind(id).run();
  });
}

bool SqliteStore::write(const Batch& batch) {
  bool good = put(batch.new_jobs);
  for (const JobRow& row : batch.new_jobs) good = good && table<JobProgress>().put(row.progress);
  good = good && put(batch.progress);
  FAILPOINT(store_jobs_written);
  good = good && put(batch.attempts);
  FAILPOINT(store_attempts_written);
  for (const Place& place : batch.gone_instances) {
    good = good && table<InstanceRow>().drop(place.gpu, place.start);
  }
  good = good && put(batch.instances);
  FAILPOINT(store_instances_written);
  for (const IntentRow& row : batch.met_intents) {
    good = good && table<IntentRow>().drop(row.kind, row.subject);
  }
  good = good && put(batch.intents);
  FAILPOINT(store_intents_written);
  good = good && put(batch.events) && put(batch.peaks) && put(batch.gpus);
  good = good && put(batch.totals);
  FAILPOINT(store_events_written);
  good = good && put(batch.turns);
  FAILPOINT(store_turns_written);
  return good && forget(batch);
}

Status SqliteStore::commit(const Batch& batch) {
  if (failed_) return Error{fmt::format("the store {} failed before and is closed", path_)};
  if (batch.empty()) return {};
  const bool good = in_transaction([&] {
    FAILPOINT(store_begin);
    const bool written = write(batch);
    FAILPOINT(store_commit);
    return written;
  });
  FAILPOINT(store_committed);
  if (good) return {};
  Error error = not_written();
  failed_ = !out_of_space_;
  return error;
}

bool SqliteStore::in_transaction(const auto& statements) {
  return sql_.begin.run() && statements() && sql_.commit.run();
}

// Frames of a transaction that did not fit are behind the end of the log as SQLite knows it, and
// the next transaction is written over them.
Error SqliteStore::not_written() {
  const int code = sqlite3_errcode(database_) & 0xff;
  const bool of_disk = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  out_of_space_ =
      code == SQLITE_FULL || (of_disk && is_want_of_space(sqlite3_system_errno(database_)));
  Error error{fmt::format("the store {} cannot be written: {}", path_, why())};
  if (sqlite3_get_autocommit(database_) != 0) return error;
  if (!sql_.rollback.run()) out_of_space_ = false;
  return error;
}

// Behind the end of the log: SQLite writes over it as the log grows, and never cuts it.
Status SqliteStore::reserve(std::uint64_t bytes) {
  const std::string log = path_ + "-wal";
  const Fd fd(::open(log.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() >= 0 &&
      ::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) {
    return {};
  }
  out_of_space_ = is_want_of_space(errno);
  return Error{
      fmt::format("{} MiB cannot be reserved for {}: {}", bytes >> 20U, log, std::strerror(errno))};
}

template <typename Row>
Status SqliteStore::read_each(Statement& statement, const auto& keep) {
  bool good = true;
  while (good && statement.next()) {
    Row row;
    good = TableOf<Row>::read(statement, row) && keep(row);
  }
  const bool whole = statement.done();
  const std::string reason = good ? why() : "a row does not match its checksum or its job";
  statement.reset();
  if (!whole) return damaged(path_, reason);
  return {};
}

// Both tables are in the order of the jobs.
Status SqliteStore::read_jobs(std::vector<JobRow>& jobs) {
  Status read = read_all(jobs);
  auto job = jobs.begin();
  if (read.ok()) {
    read = read_each<JobProgress>(table<JobProgress>().all(), [&](JobProgress& progress) {
      if (job == jobs.end() || job->progress.id != progress.id) return false;
      (job++)->progress = std::move(progress);
      return true;
    });
  }
  if (read.ok() && job != jobs.end()) read = damaged(path_, "a job has no state");
  return read;
}

Result<Contents> SqliteStore::load() {
  Contents contents;
  Status read = read_jobs(contents.jobs);
  if (read.ok()) read = read_all(contents.attempts);
  if (read.ok()) read = read_all(contents.instances);
  if (read.ok()) read = read_all(contents.intents);
  if (read.ok()) read = read_all(contents.peaks);
  if (read.ok()) read = read_all(contents.gpus);
  if (read.ok()) read = read_all(contents.totals);
  if (!read) return read.error();
  const auto last = number_of(sql_.last_event);
  if (!last) return damaged(path_, why());
  contents.last_event = *last;
  FAILPOINT(store_loaded);
  return contents;
}

Result<std::vector<EventRow>> SqliteStore::events(JobNumber job, std::size_t most) {
  Statement& sql = job == kNoJob ? sql_.events_of_all : sql_.events_of_job;
  if (job != kNoJob) sql.bind(job.value);
  sql.bind(static_cast<std::int64_t>(most));
  std::vector<EventRow> found;
  const Status read = read_all(sql, found);
  if (!read) return read.error();
  return found;
}

// ---- the journal

std::optional<std::int64_t> SqliteStore::number_of(Statement& statement) {
  std::optional<std::int64_t> number;
  if (statement.next()) number = statement.integer();
  statement.reset();
  return number;
}

Result<Store::JournalSize> SqliteStore::journal_size() {
  const auto bytes = number_of(sql_.turns_sum);
  const auto first = number_of(sql_.first_turn);
  if (!bytes || !first) return damaged(path_, "the journal cannot be read");
  JournalSize size{*first - 1, *bytes, false};
  if (sql_.last_turn.next()) {
    size.last_turn = sql_.last_turn.integer();
    size.closed = static_cast<TurnKind>(sql_.last_turn.integer()) == TurnKind::kClose;
  }
  sql_.last_turn.reset();
  size.closed = size.closed || base_missing_;
  size.first_us = number_of(sql_.first_time).value_or(0);
  return size;
}

Result<std::vector<TurnRow>> SqliteStore::turns(std::int64_t from, std::size_t most) {
  Statement& sql = sql_.turns_from.bind(from).bind(static_cast<std::int64_t>(most));
  std::vector<TurnRow> found;
  const Status read = read_all(sql, found);
  if (!read) return read.error();
  return found;
}

Result<Contents> SqliteStore::journal_base() {
  const auto first = number_of(sql_.first_turn);
  if (!first) return damaged(path_, "the journal cannot be read");
  if (*first == 1) return Contents{};
  const std::string folder = base_folder(folder_, *first);
  if (::access(store_file(folder).c_str(), R_OK) != 0) {
    return Error{fmt::format("{}, from which the journal goes on, is not there", folder)};
  }
  SqliteStore base;
  const Status opened = base.open(folder, {.check_whole_file = true, .has_journal = false});
  if (!opened) return opened.error();
  return base.load();
}

Status SqliteStore::begin_journal_anew() {
  const Result<JournalSize> size = journal_size();
  if (!size) return size.error();
  const bool gone = in_transaction(
      [&] { return sql_.drop_turns.run() && sql_.set_first_turn.bind(size->last_turn + 1).run(); });
  if (!gone) return not_written();
  base_missing_ = true;
  const Status based = finish_base();
  base_missing_ = !based.ok();
  return based;
}

// Before the first turn is written the store is its own base, so that a copy that was not finished
// can be made again.
Status SqliteStore::finish_base() {
  const auto first = number_of(sql_.first_turn);
  if (!first) return damaged(path_, "the journal cannot be read");
  if (*first == 1 || ::access(base_folder(folder_, *first).c_str(), F_OK) == 0) return {};
  const bool written = sql_.last_turn.next();
  sql_.last_turn.reset();
  if (written) return {};
  const Status made = make_base(database_, folder_, *first);
  if (!made) not_written();  // says whether there was no space
  return made;
}

}  // namespace

std::string store_file(const std::string& folder) {
  return folder + "/partita.db";
}

Result<std::unique_ptr<Store>> open_store(const std::string& folder, const OpenOptions& options) {
  auto store = std::make_unique<SqliteStore>();
  const Status opened = store->open(folder, options);
  if (!opened) return opened.error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace partita::store
