#include "store/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/failpoint.h"
#include "store/journal_base.h"
#include "store/schema.h"
#include "store/statement.h"

namespace partita::store {
namespace {

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
    const bool told = ::ftruncate(fd_, 0) == 0 &&
                      ::pwrite(fd_, own.data(), own.size(), 0) == static_cast<ssize_t>(own.size());
    if (!told) return Error{fmt::format("{} cannot be written: {}", path, std::strerror(errno))};
    return {};
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

// Every statement the store ever runs; prepared once.
struct Statements {
  Statement begin, commit, rollback;
  Statement insert_job, put_progress, put_attempt, put_instance, drop_instance;
  Statement put_intent, drop_intent, insert_event, put_peak;
  Statement forget_job, forget_progress, forget_attempts, forget_events;
  Statement events_of_job, events_of_all, last_event;
  Statement insert_turn, turns_from, turns_sum, last_turn, first_turn, drop_turns, set_first_turn;
  Statement jobs, attempts, instances, intents, peaks;
};

struct StatementText {
  Statement Statements::*member;
  std::string_view sql;
};

constexpr std::string_view kJobColumns =
    "SELECT jobs.id, submitted_us, uid, gid, name, key, spec, jobs.sum, progress.id, state, "
    "attempt, need_gib, changed_us, reason, progress.sum FROM jobs LEFT JOIN progress "
    "ON progress.id = jobs.id ORDER BY jobs.id";

constexpr std::array kStatementTexts = std::to_array<StatementText>({
    {&Statements::begin, "BEGIN IMMEDIATE"},
    {&Statements::commit, "COMMIT"},
    {&Statements::rollback, "ROLLBACK"},
    {&Statements::insert_job, "INSERT INTO jobs VALUES(?,?,?,?,?,?,?,?)"},
    {&Statements::put_progress, "REPLACE INTO progress VALUES(?,?,?,?,?,?,?)"},
    {&Statements::put_attempt, "REPLACE INTO attempts VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {&Statements::put_instance, "REPLACE INTO instances VALUES(?,?,?,?,?,?,?)"},
    {&Statements::drop_instance, "DELETE FROM instances WHERE gpu=? AND start=?"},
    {&Statements::put_intent, "REPLACE INTO intents VALUES(?,?,?,?)"},
    {&Statements::drop_intent, "DELETE FROM intents WHERE kind=? AND subject=?"},
    {&Statements::insert_event, "INSERT INTO events VALUES(?,?,?,?,?,?)"},
    {&Statements::put_peak, "REPLACE INTO peaks VALUES(?,?,?,?)"},
    {&Statements::forget_job, "DELETE FROM jobs WHERE id=?"},
    {&Statements::forget_progress, "DELETE FROM progress WHERE id=?"},
    {&Statements::forget_attempts, "DELETE FROM attempts WHERE job=?"},
    {&Statements::forget_events, "DELETE FROM events WHERE job=?"},
    {&Statements::events_of_job,
     "SELECT * FROM (SELECT * FROM events WHERE job=? ORDER BY sequence DESC LIMIT ?) "
     "ORDER BY sequence"},
    {&Statements::events_of_all,
     "SELECT * FROM (SELECT * FROM events ORDER BY sequence DESC LIMIT ?) ORDER BY sequence"},
    {&Statements::last_event, "SELECT coalesce(max(sequence),0) FROM events"},
    {&Statements::insert_turn, "INSERT INTO turns VALUES(?,?,?,?,?,?)"},
    {&Statements::turns_from, "SELECT * FROM turns WHERE number>=? ORDER BY number LIMIT ?"},
    {&Statements::turns_sum, "SELECT coalesce(sum(length(CAST(inputs AS BLOB))),0) FROM turns"},
    {&Statements::last_turn, "SELECT number, kind FROM turns ORDER BY number DESC LIMIT 1"},
    {&Statements::first_turn, "SELECT first FROM journal"},
    {&Statements::drop_turns, "DELETE FROM turns"},
    {&Statements::set_first_turn, "UPDATE journal SET first=?"},
    {&Statements::jobs, kJobColumns},
    {&Statements::attempts, "SELECT * FROM attempts ORDER BY job, number"},
    {&Statements::instances, "SELECT * FROM instances ORDER BY gpu, start"},
    {&Statements::intents, "SELECT * FROM intents ORDER BY kind, subject"},
    {&Statements::peaks, "SELECT * FROM peaks ORDER BY uid, name"},
});

// Those of jobs go with their jobs; of the others the last 100,000 are kept.
constexpr const char* kForgetOldEvents =
    "DELETE FROM events WHERE job=0 AND sequence <= (SELECT coalesce(max(sequence),0) FROM events) "
    "- 100000";

class SqliteStore : public Store {
 public:
  ~SqliteStore() override;

  Status open(const std::string& folder, const OpenOptions& options);
  Status commit(const Batch& batch) override;
  Result<Contents> load() override;
  Result<std::vector<EventRow>> events(std::int64_t job, std::size_t most) override;
  Result<JournalSize> journal_size() override;
  Result<std::vector<TurnRow>> turns(std::int64_t from, std::size_t most) override;
  Result<Contents> journal_base() override;
  Status begin_journal_anew() override;

 private:
  bool write(const Batch& batch);
  bool write_jobs(const Batch& batch);
  bool write_attempts(const Batch& batch);
  bool write_instances(const Batch& batch);
  bool write_intents(const Batch& batch);
  bool write_events(const Batch& batch);
  bool write_turns(const Batch& batch);
  bool forget(const Batch& batch);
  // The only row of a statement, as a number.
  std::optional<std::int64_t> number_of(Statement& statement);
  Status finish_base();

  // Reads all rows of a statement; a wrong sum or a broken page is an error.
  template <typename Row, typename Read>
  Status read_all(Statement& statement, std::vector<Row>& rows, Read read);
  std::string why() const { return sqlite3_errmsg(database_); }
  bool execute(const char* sql) {
    return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  Status check_whole_file();

  FolderLock lock_;
  std::string folder_;
  std::string path_;
  sqlite3* database_ = nullptr;
  Statements sql_;
  bool failed_ = false;
};

SqliteStore::~SqliteStore() {
  sql_ = Statements{};
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
  if (!execute(kForgetOldEvents)) return damaged(path_, why());
  for (const StatementText& text : kStatementTexts) {
    sql_.*text.member = Statement(database_, text.sql);
    if (!(sql_.*text.member).prepared()) return damaged(path_, why());
  }
  FAILPOINT(store_opened);
  return options.has_journal ? finish_base() : Status{};
}

Status SqliteStore::check_whole_file() {
  Statement check(database_, "PRAGMA integrity_check(1)");
  if (!check.prepared() || !check.next()) return damaged(path_, why());
  const std::string answer = check.text();
  if (answer != "ok") return damaged(path_, answer);
  return {};
}

bool SqliteStore::write_jobs(const Batch& batch) {
  bool good = true;
  const auto put = [&](const JobProgress& row) {
    good = good && sql_.put_progress.bind(row.id)
                       .bind(row.state)
                       .bind(row.attempt)
                       .bind(row.need_gib)
                       .bind(row.changed_us)
                       .bind(row.reason)
                       .bind_sum()
                       .run();
  };
  for (const JobRow& row : batch.new_jobs) {
    good = good && sql_.insert_job.bind(row.progress.id)
                       .bind(row.submitted_us)
                       .bind(row.uid)
                       .bind(row.gid)
                       .bind(row.name)
                       .bind(row.key)
                       .bind(row.spec)
                       .bind_sum()
                       .run();
    put(row.progress);
  }
  for (const JobProgress& row : batch.progress) put(row);
  FAILPOINT(store_jobs_written);
  return good;
}

bool SqliteStore::write_attempts(const Batch& batch) {
  bool good = true;
  for (const AttemptRow& row : batch.attempts) {
    good = good && sql_.put_attempt.bind(row.job)
                       .bind(row.number)
                       .bind(row.state)
                       .bind(row.gpu)
                       .bind(row.instance)
                       .bind(row.profile)
                       .bind(row.start)
                       .bind(row.started_us)
                       .bind(row.ended_us)
                       .bind(row.exit_code)
                       .bind(row.signal)
                       .bind(row.peak_gib)
                       .bind(row.energy_j)
                       .bind(row.reason)
                       .bind_sum()
                       .run();
  }
  FAILPOINT(store_attempts_written);
  return good;
}

bool SqliteStore::write_instances(const Batch& batch) {
  bool good = true;
  for (const Place& place : batch.gone_instances) {
    good = good && sql_.drop_instance.bind(place.gpu).bind(place.start).run();
  }
  for (const InstanceRow& row : batch.instances) {
    good = good && sql_.put_instance.bind(row.gpu)
                       .bind(row.start)
                       .bind(row.profile)
                       .bind(row.uuid)
                       .bind(row.state)
                       .bind(row.changed_us)
                       .bind_sum()
                       .run();
  }
  FAILPOINT(store_instances_written);
  return good;
}

bool SqliteStore::write_intents(const Batch& batch) {
  bool good = true;
  for (const IntentRow& row : batch.met_intents) {
    good = good && sql_.drop_intent.bind(row.kind).bind(row.subject).run();
  }
  for (const IntentRow& row : batch.intents) {
    good =
        good && sql_.put_intent.bind(row.kind).bind(row.subject).bind(row.made_us).bind_sum().run();
  }
  FAILPOINT(store_intents_written);
  return good;
}

bool SqliteStore::write_events(const Batch& batch) {
  bool good = true;
  for (const EventRow& row : batch.events) {
    good = good && sql_.insert_event.bind(row.sequence)
                       .bind(row.at_us)
                       .bind(row.job)
                       .bind(row.kind)
                       .bind(row.text)
                       .bind_sum()
                       .run();
  }
  for (const PeakRow& row : batch.peaks) {
    good = good && sql_.put_peak.bind(row.uid).bind(row.name).bind(row.peak_gib).bind_sum().run();
  }
  FAILPOINT(store_events_written);
  return good;
}

bool SqliteStore::write_turns(const Batch& batch) {
  bool good = true;
  for (const TurnRow& row : batch.turns) {
    good = good && sql_.insert_turn.bind(row.number)
                       .bind(row.at_us)
                       .bind(static_cast<std::int64_t>(row.kind))
                       .bind(row.digest)
                       .bind(row.inputs)
                       .bind_sum()
                       .run();
  }
  FAILPOINT(store_turns_written);
  return good;
}

bool SqliteStore::forget(const Batch& batch) {
  bool good = true;
  for (const std::int64_t id : batch.forgotten_jobs) {
    good = good && sql_.forget_job.bind(id).run() && sql_.forget_progress.bind(id).run() &&
           sql_.forget_attempts.bind(id).run() && sql_.forget_events.bind(id).run();
  }
  return good;
}

bool SqliteStore::write(const Batch& batch) {
  return write_jobs(batch) && write_attempts(batch) && write_instances(batch) &&
         write_intents(batch) && write_events(batch) && write_turns(batch) && forget(batch);
}

Status SqliteStore::commit(const Batch& batch) {
  if (failed_) return Error{fmt::format("the store {} failed before and is closed", path_)};
  if (batch.empty()) return {};
  bool good = sql_.begin.run();
  FAILPOINT(store_begin);
  good = good && write(batch);
  FAILPOINT(store_commit);
  good = good && sql_.commit.run();
  FAILPOINT(store_committed);
  if (good) return {};
  failed_ = true;
  const std::string reason = why();
  if (sqlite3_get_autocommit(database_) == 0) sql_.rollback.run();
  return Error{fmt::format("the store {} cannot be written: {}", path_, reason)};
}

template <typename Row, typename Read>
Status SqliteStore::read_all(Statement& statement, std::vector<Row>& rows, Read read) {
  while (statement.next()) {
    Row row;
    read(row);
    if (!statement.sum_matches()) {
      statement.reset();
      return damaged(path_, "a row does not match its checksum");
    }
    rows.push_back(std::move(row));
  }
  const bool whole = statement.done();
  const std::string reason = why();
  statement.reset();
  if (!whole) return damaged(path_, reason);
  return {};
}

void read_attempt(Statement& sql, AttemptRow& row) {
  row.job = sql.integer();
  row.number = sql.integer();
  row.state = sql.integer();
  row.gpu = sql.text();
  row.instance = sql.text();
  row.profile = sql.text();
  row.start = sql.integer();
  row.started_us = sql.integer();
  row.ended_us = sql.integer();
  row.exit_code = sql.integer();
  row.signal = sql.integer();
  row.peak_gib = sql.real();
  row.energy_j = sql.real();
  row.reason = sql.text();
}

void read_instance(Statement& sql, InstanceRow& row) {
  row.gpu = sql.text();
  row.start = sql.integer();
  row.profile = sql.text();
  row.uuid = sql.text();
  row.state = sql.integer();
  row.changed_us = sql.integer();
}

void read_event(Statement& sql, EventRow& row) {
  row.sequence = sql.integer();
  row.at_us = sql.integer();
  row.job = sql.integer();
  row.kind = sql.text();
  row.text = sql.text();
}

// A job and its progress, each with its sum.
bool read_job(Statement& sql, JobRow& row) {
  row.progress.id = sql.integer();
  row.submitted_us = sql.integer();
  row.uid = sql.integer();
  row.gid = sql.integer();
  row.name = sql.text();
  row.key = sql.text();
  row.spec = sql.text();
  if (!sql.sum_matches()) return false;
  sql.begin_sum();
  const bool same = sql.integer() == row.progress.id;
  row.progress.state = sql.integer();
  row.progress.attempt = sql.integer();
  row.progress.need_gib = sql.real();
  row.progress.changed_us = sql.integer();
  row.progress.reason = sql.text();
  return same;
}

Result<Contents> SqliteStore::load() {
  Contents contents;
  bool jobs_good = true;
  Status read = read_all(sql_.jobs, contents.jobs,
                         [&](JobRow& row) { jobs_good = read_job(sql_.jobs, row) && jobs_good; });
  if (read.ok() && !jobs_good) read = damaged(path_, "a job does not match its checksum");
  if (read.ok()) {
    read = read_all(sql_.attempts, contents.attempts,
                    [&](AttemptRow& row) { read_attempt(sql_.attempts, row); });
  }
  if (read.ok()) {
    read = read_all(sql_.instances, contents.instances,
                    [&](InstanceRow& row) { read_instance(sql_.instances, row); });
  }
  if (read.ok()) {
    read = read_all(sql_.intents, contents.intents, [&](IntentRow& row) {
      row.kind = sql_.intents.text();
      row.subject = sql_.intents.text();
      row.made_us = sql_.intents.integer();
    });
  }
  if (read.ok()) {
    read = read_all(sql_.peaks, contents.peaks, [&](PeakRow& row) {
      row.uid = sql_.peaks.integer();
      row.name = sql_.peaks.text();
      row.peak_gib = sql_.peaks.real();
    });
  }
  if (!read) return read.error();
  if (!sql_.last_event.next()) return damaged(path_, why());
  contents.last_event = sql_.last_event.integer();
  sql_.last_event.reset();
  FAILPOINT(store_loaded);
  return contents;
}

Result<std::vector<EventRow>> SqliteStore::events(std::int64_t job, std::size_t most) {
  Statement& sql = job == 0 ? sql_.events_of_all : sql_.events_of_job;
  if (job != 0) sql.bind(job);
  sql.bind(static_cast<std::int64_t>(most));
  std::vector<EventRow> found;
  const Status read = read_all(sql, found, [&](EventRow& row) { read_event(sql, row); });
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
  return size;
}

Result<std::vector<TurnRow>> SqliteStore::turns(std::int64_t from, std::size_t most) {
  Statement& sql = sql_.turns_from.bind(from).bind(static_cast<std::int64_t>(most));
  std::vector<TurnRow> found;
  const Status read = read_all(sql, found, [&](TurnRow& row) {
    row.number = sql.integer();
    row.at_us = sql.integer();
    row.kind = static_cast<TurnKind>(sql.integer());
    row.digest = sql.integer();
    row.inputs = sql.text();
  });
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
  const bool gone = sql_.begin.run() && sql_.drop_turns.run() &&
                    sql_.set_first_turn.bind(size->last_turn + 1).run() && sql_.commit.run();
  if (!gone) return Error{fmt::format("the store {} cannot be written: {}", path_, why())};
  return finish_base();
}

// Before the first turn is written the store is its own base, so that a copy that was not finished
// can be made again.
Status SqliteStore::finish_base() {
  const auto first = number_of(sql_.first_turn);
  if (!first) return damaged(path_, "the journal cannot be read");
  if (*first == 1 || ::access(base_folder(folder_, *first).c_str(), F_OK) == 0) return {};
  const bool written = sql_.last_turn.next();
  sql_.last_turn.reset();
  return written ? Status{} : make_base(database_, folder_, *first);
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
