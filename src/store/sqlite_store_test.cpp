#include "store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/rng.h"
#include "store/memory_store.h"
#include "store/schema.h"
#include "store/test_support.h"

namespace partita::store {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::unique_ptr<Store> opened(const std::string& folder) {
  auto store = open_store(folder, {});
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
  return store.ok() ? *std::move(store) : nullptr;
}

// The same batches into the file and into the model of it.
void write_some(Store& file, MemoryStore& model, std::uint64_t seed, int batches) {
  Rng rng(seed);
  std::int64_t jobs = 0;
  std::int64_t events = 0;
  std::int64_t turns = 0;
  for (int i = 0; i < batches; ++i) {
    const Batch batch = test::random_batch(rng, jobs, events, turns);
    ASSERT_TRUE(file.commit(batch).ok());
    ASSERT_TRUE(model.commit(batch).ok());
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A store of some jobs, closed, so that all of it is in one file; and what it holds.
struct Sample {
  explicit Sample(std::uint64_t seed) {
    auto store = opened(folder.path());
    write_some(*store, model, seed, 60);
  }
  std::string file() const { return store_file(folder.path()); }

  TemporaryFolder folder;
  MemoryStore model;
};

TEST(SqliteStore, WhatWasCommittedIsThereWhenItIsOpenedAgain) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TemporaryFolder folder;
    MemoryStore model;
    write_some(*opened(folder.path()), model, seed, 40);
    const auto store = opened(folder.path());
    EXPECT_EQ(*store->load(), *model.load()) << "seed " << seed;
    EXPECT_EQ(*store->events(kNoJob, 1000), *model.events(kNoJob, 1000));
    EXPECT_EQ(*store->events({2}, 5), *model.events({2}, 5));
    EXPECT_EQ(*store->turns(0, 1000), *model.turns(0, 1000));
    EXPECT_EQ(*store->turns(7, 3), *model.turns(7, 3));
    EXPECT_EQ(store->journal_size()->bytes, model.journal_size()->bytes);
    EXPECT_EQ(store->journal_size()->last_turn, model.journal_size()->last_turn);
    EXPECT_EQ(*store->journal_base(), Contents{});
  }
}

Batch batch_with_turn(std::int64_t number, TurnKind kind) {
  Batch batch;
  batch.turns.push_back({number, 1, kind, 2, "x"});
  return batch;
}

TEST(SqliteStore, AJournalBegunAnewGoesOnFromWhatWasThere) {
  Sample sample(11);
  auto store = opened(sample.folder.path());
  const std::int64_t last = store->journal_size()->last_turn;
  ASSERT_TRUE(store->begin_journal_anew().ok());
  EXPECT_TRUE(store->turns(0, 10)->empty());
  EXPECT_EQ(store->journal_size()->last_turn, last);
  ASSERT_TRUE(store->commit(batch_with_turn(last + 1, TurnKind::kBegin)).ok());
  Batch more;
  more.forgotten_jobs = {{1}, {2}};
  more.turns.push_back({last + 2, 1, TurnKind::kClose, 2, ""});
  ASSERT_TRUE(store->commit(more).ok());
  store.reset();
  store = opened(sample.folder.path());
  EXPECT_TRUE(store->journal_size()->closed);
  EXPECT_EQ(store->turns(0, 10)->size(), 2U);
  EXPECT_EQ(*store->journal_base(), *sample.model.load());
  EXPECT_NE(*store->load(), *sample.model.load());
  // Again: the older base goes.
  ASSERT_TRUE(store->begin_journal_anew().ok());
  EXPECT_FALSE(store->journal_size()->closed);
  EXPECT_EQ(*store->journal_base(), *store->load());
  const auto folders = std::count_if(
      fs::directory_iterator(sample.folder.path()), fs::directory_iterator{},
      [](const auto& entry) { return entry.path().filename().string().starts_with("base-"); });
  EXPECT_EQ(folders, 1);
}

TEST(SqliteStore, ABaseThatWasNotFinishedIsMadeAgainAndALostOneIsNamed) {
  Sample sample(12);
  auto store = opened(sample.folder.path());
  ASSERT_TRUE(store->begin_journal_anew().ok());
  const std::int64_t next = store->journal_size()->last_turn + 1;
  const std::string base = sample.folder.path() + "/base-" + std::to_string(next);
  store.reset();
  // As if the process had died before the copy had its name.
  fs::rename(base, base + ".new");
  store = opened(sample.folder.path());
  EXPECT_EQ(*store->journal_base(), *sample.model.load());
  // Once turns were written the store is no longer its own base.
  ASSERT_TRUE(store->commit(batch_with_turn(next, TurnKind::kBegin)).ok());
  store.reset();
  fs::remove_all(base);
  store = opened(sample.folder.path());
  const auto lost = store->journal_base();
  ASSERT_FALSE(lost.ok());
  EXPECT_NE(lost.error().message.find(base), std::string::npos);
}

TEST(SqliteStore, ForgottenJobsTakeTheirAttemptsAndEventsWithThem) {
  Sample sample(3);
  const auto store = opened(sample.folder.path());
  Batch batch;
  batch.forgotten_jobs = {{1}, {3}};
  ASSERT_TRUE(store->commit(batch).ok());
  ASSERT_TRUE(sample.model.commit(batch).ok());
  EXPECT_EQ(store->load()->jobs, sample.model.load()->jobs);
  EXPECT_EQ(store->load()->attempts, sample.model.load()->attempts);
  EXPECT_TRUE(store->events({1}, 10)->empty());
}

TEST(SqliteStore, ABatchThatFailsLeavesNothingBehindAndClosesTheStore) {
  TemporaryFolder folder;
  auto store = opened(folder.path());
  Batch batch;
  batch.new_jobs.resize(2);
  batch.new_jobs[0].progress.id = batch.new_jobs[1].progress.id = {7};
  EXPECT_FALSE(store->commit(batch).ok());
  batch.new_jobs.pop_back();
  EXPECT_FALSE(store->commit(batch).ok());
  store.reset();
  EXPECT_TRUE(opened(folder.path())->load()->jobs.empty());
}

TEST(SqliteStore, ASecondDaemonIsToldWhoHasIt) {
  TemporaryFolder folder;
  const auto store = opened(folder.path());
  const auto second = open_store(folder.path(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos);
}

TEST(SqliteStore, OnlyItsOwnerMayReadIt) {
  TemporaryFolder folder;
  const auto store = opened(folder.path() + "/state");
  const auto mode = [](const std::string& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(mode(folder.path() + "/state"), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder.path() + "/state")) {
    EXPECT_EQ(mode(entry.path().string()), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
}

TEST(SqliteStore, ANewerVersionIsRefusedByNameAndLeftAlone) {
  Sample sample(4);
  sqlite3* database = nullptr;
  sqlite3_open(sample.file().c_str(), &database);
  sqlite3_exec(database, "PRAGMA user_version=99", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const std::string before = bytes_of(sample.file());
  const auto refused = open_store(sample.folder.path(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(sample.file()), std::string::npos);
  EXPECT_NE(refused.error().message.find("version 99"), std::string::npos);
  EXPECT_EQ(bytes_of(sample.file()), before);
}

// Files of each version, and rows, as programs wrote them before records described themselves.
constexpr const char* kVersion1 = R"(
CREATE TABLE jobs(id INTEGER PRIMARY KEY, submitted_us INTEGER NOT NULL, uid INTEGER NOT NULL,
  gid INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, spec TEXT NOT NULL,
  sum INTEGER NOT NULL);
CREATE TABLE progress(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempt INTEGER NOT NULL,
  need_gib REAL NOT NULL, changed_us INTEGER NOT NULL, reason TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE attempts(job INTEGER NOT NULL, number INTEGER NOT NULL, state INTEGER NOT NULL,
  gpu TEXT NOT NULL, instance TEXT NOT NULL, profile TEXT NOT NULL, start INTEGER NOT NULL,
  started_us INTEGER NOT NULL, ended_us INTEGER NOT NULL, exit_code INTEGER NOT NULL,
  signal INTEGER NOT NULL, peak_gib REAL NOT NULL, energy_j REAL NOT NULL, reason TEXT NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(job, number)) WITHOUT ROWID;
CREATE TABLE instances(gpu TEXT NOT NULL, start INTEGER NOT NULL, profile TEXT NOT NULL,
  uuid TEXT NOT NULL, state INTEGER NOT NULL, changed_us INTEGER NOT NULL, sum INTEGER NOT NULL,
  PRIMARY KEY(gpu, start)) WITHOUT ROWID;
CREATE TABLE intents(kind TEXT NOT NULL, subject TEXT NOT NULL, made_us INTEGER NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(kind, subject)) WITHOUT ROWID;
CREATE TABLE events(sequence INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, job INTEGER NOT NULL,
  kind TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX events_of_job ON events(job, sequence);
PRAGMA application_id=1347572801;
PRAGMA user_version=1;
)";
constexpr const char* kVersion2 = R"(
CREATE TABLE peaks(uid INTEGER NOT NULL, name TEXT NOT NULL, peak_gib REAL NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(uid, name)) WITHOUT ROWID;
PRAGMA user_version=2;
)";
constexpr const char* kVersion3 = R"(
CREATE TABLE turns(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, kind INTEGER NOT NULL,
  digest INTEGER NOT NULL, inputs BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE journal(first INTEGER NOT NULL);
INSERT INTO journal VALUES(1);
PRAGMA user_version=3;
)";
constexpr const char* kVersion3Rows = R"(
INSERT INTO jobs VALUES(1,1700000000000000,1000,100,'train','k1','a spec',
  5067931451946739226);
INSERT INTO progress VALUES(1,2,1,4.5,1700000000000005,'it''s running',3292713260177074294);
INSERT INTO attempts VALUES(1,1,1,'GPU-1','MIG-1','1g.5gb',3,1700000000000003,0,-1,0,1.25,77.5,'',
  -5010720361843248151);
INSERT INTO instances VALUES('GPU-1',3,'1g.5gb','MIG-1',1,1700000000000002,337534152359878748);
INSERT INTO intents VALUES('stop','1.1',1700000000000006,-7004605538102983600);
INSERT INTO events VALUES(1,1700000000000000,1,'submitted','by ann',3662786403209964443);
INSERT INTO events VALUES(2,1700000000000001,0,'foreign','left alone',7325322303707660697);
INSERT INTO peaks VALUES(1000,'train',3.5,5297779101057558361);
INSERT INTO turns VALUES(1,1700000000000000,1,-5,'begin',4828618250990339467);
INSERT INTO turns VALUES(2,1700000000000001,0,7,'step',1897410119428014885);
)";
// The two tables that version 4 gave a column each, with the same rows: they keep their sums.
constexpr const char* kVersion4 = R"(
DROP TABLE progress;
DROP TABLE attempts;
CREATE TABLE progress(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempt INTEGER NOT NULL,
  need_gib REAL NOT NULL, changed_us INTEGER NOT NULL, reason TEXT NOT NULL,
  stop_cause INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL);
CREATE TABLE attempts(job INTEGER NOT NULL, number INTEGER NOT NULL, state INTEGER NOT NULL,
  gpu TEXT NOT NULL, instance TEXT NOT NULL, profile TEXT NOT NULL, start INTEGER NOT NULL,
  started_us INTEGER NOT NULL, ended_us INTEGER NOT NULL, exit_code INTEGER NOT NULL,
  signal INTEGER NOT NULL, peak_gib REAL NOT NULL, energy_j REAL NOT NULL, reason TEXT NOT NULL,
  outcome INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL, PRIMARY KEY(job, number)) WITHOUT ROWID;
INSERT INTO progress VALUES(1,2,1,4.5,1700000000000005,'it''s running',0,3292713260177074294);
INSERT INTO attempts VALUES(1,1,1,'GPU-1','MIG-1','1g.5gb',3,1700000000000003,0,-1,0,1.25,77.5,'',
  0,-5010720361843248151);
PRAGMA user_version=4;
)";
// Version 5: what steers the queue, and totals. Rows that do not use it keep their sums.
constexpr const char* kVersion5 = R"(
DROP TABLE jobs;
DROP TABLE progress;
CREATE TABLE jobs(id INTEGER PRIMARY KEY, submitted_us INTEGER NOT NULL, uid INTEGER NOT NULL,
  gid INTEGER NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, spec TEXT NOT NULL,
  array_job INTEGER NOT NULL DEFAULT 0, array_index INTEGER NOT NULL DEFAULT 0,
  sum INTEGER NOT NULL);
CREATE TABLE progress(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, attempt INTEGER NOT NULL,
  need_gib REAL NOT NULL, changed_us INTEGER NOT NULL, reason TEXT NOT NULL,
  stop_cause INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0,
  tries_from INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL);
CREATE TABLE gpus(gpu TEXT NOT NULL, drained INTEGER NOT NULL, changed_us INTEGER NOT NULL,
  reason TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(gpu)) WITHOUT ROWID;
CREATE TABLE totals(uid INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(uid, name)) WITHOUT ROWID;
INSERT INTO jobs VALUES(1,1700000000000000,1000,100,'train','k1','a spec',0,0,
  5067931451946739226);
INSERT INTO progress VALUES(1,2,1,4.5,1700000000000005,'it''s running',0,0,0,3292713260177074294);
PRAGMA user_version=5;
)";
// The same job later.
constexpr const char* kVersion4Rows = R"(
REPLACE INTO progress(id,state,attempt,need_gib,changed_us,reason,stop_cause,sum)
  VALUES(1,3,2,4.5,1700000000000005,'preempted',1,6694820401792842210);
REPLACE INTO attempts VALUES(1,1,3,'GPU-1','MIG-1','1g.5gb',3,1700000000000003,1700000000000004,-1,
  0,1.25,77.5,'lost: its process vanished',5,2590731073083164644);
)";

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

// The rows above.
Batch version3_rows() {
  Batch batch;
  JobRow job;
  job.progress = {{1}, 2, 1, 4.5, 1'700'000'000'000'005, "it's running"};
  job.submitted_us = 1'700'000'000'000'000;
  job.uid = 1000;
  job.gid = 100;
  job.name = "train";
  job.key = "k1";
  job.spec = "a spec";
  batch.new_jobs = {job};
  batch.attempts = {
      {{1}, 1, 1, "GPU-1", "MIG-1", "1g.5gb", 3, 1'700'000'000'000'003, 0, -1, 0, 1.25, 77.5, ""}};
  batch.instances = {{"GPU-1", 3, "1g.5gb", "MIG-1", 1, 1'700'000'000'000'002}};
  batch.intents = {{"stop", "1.1", 1'700'000'000'000'006}};
  batch.events = {{1, 1'700'000'000'000'000, {1}, "submitted", "by ann"},
                  {2, 1'700'000'000'000'001, kNoJob, "foreign", "left alone"}};
  batch.peaks = {{1000, "train", 3.5}};
  batch.turns = {{1, 1'700'000'000'000'000, TurnKind::kBegin, -5, "begin"},
                 {2, 1'700'000'000'000'001, TurnKind::kStep, 7, "step"}};
  return batch;
}

TEST(SqliteStore, AnOlderVersionIsMovedUp) {
  for (const std::string& sql : {std::string(kVersion1), std::string(kVersion1) + kVersion2}) {
    TemporaryFolder folder;
    run_sql(store_file(folder.path()), sql);
    MemoryStore model;
    write_some(*opened(folder.path()), model, 5, 20);
    EXPECT_EQ(*opened(folder.path())->load(), *model.load());
  }
}

TEST(SqliteStore, AFileOfVersion3OpensAndHoldsWhatWasWritten) {
  TemporaryFolder folder;
  run_sql(store_file(folder.path()),
          std::string(kVersion1) + kVersion2 + kVersion3 + kVersion3Rows);
  MemoryStore model;
  ASSERT_TRUE(model.commit(version3_rows()).ok());
  const auto store = opened(folder.path());
  const auto contents = store->load();
  ASSERT_TRUE(contents.ok()) << contents.error().message;
  EXPECT_EQ(*contents, *model.load());
  EXPECT_EQ(*store->events(kNoJob, 10), *model.events(kNoJob, 10));
  EXPECT_EQ(*store->turns(0, 10), *model.turns(0, 10));
  // And it goes on being written.
  Batch more = batch_with_turn(3, TurnKind::kStep);
  more.progress = {{{1}, 5, 1, 4.5, 1'700'000'000'000'009, "done"}};
  ASSERT_TRUE(store->commit(more).ok());
  EXPECT_EQ(store->load()->jobs.at(0).progress.reason, "done");
}

// Every table and index with its columns, and every row, as text.
std::string everything_in(const std::string& path) {
  std::string text;
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  const auto append = [](void* out, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i) {
      *static_cast<std::string*>(out) += std::string(values[i] == nullptr ? "-" : values[i]) + "|";
    }
    *static_cast<std::string*>(out) += "\n";
    return 0;
  };
  for (const std::string table : {"jobs", "progress", "attempts", "instances", "intents", "events",
                                  "peaks", "turns", "gpus", "journal", "totals"}) {
    for (const std::string& sql :
         {"PRAGMA table_info(" + table + ")", "PRAGMA index_list(" + table + ")",
          "SELECT wr FROM pragma_table_list WHERE name='" + table + "'",
          "SELECT * FROM " + table}) {
      EXPECT_EQ(sqlite3_exec(database, sql.c_str(), append, &text, nullptr), SQLITE_OK) << sql;
    }
  }
  sqlite3_close(database);
  return text;
}

TEST(SqliteStore, AFileThatIsMadeTodayIsOneOfVersion5) {
  TemporaryFolder today;
  ASSERT_TRUE(opened(today.path())->commit(version3_rows()).ok());
  TemporaryFolder then;
  run_sql(store_file(then.path()),
          std::string(kVersion1) + kVersion2 + kVersion3 + kVersion3Rows + kVersion4 + kVersion5);
  EXPECT_EQ(everything_in(store_file(today.path())), everything_in(store_file(then.path())));

  Batch later;
  later.progress = {{{1}, 3, 2, 4.5, 1'700'000'000'000'005, "preempted", StopCause::kPreempted}};
  later.attempts = {version3_rows().attempts[0]};
  later.attempts[0].state = 3;
  later.attempts[0].ended_us = 1'700'000'000'000'004;
  later.attempts[0].reason = "lost: its process vanished";
  later.attempts[0].outcome = AttemptOutcome::kLost;
  ASSERT_TRUE(opened(today.path())->commit(later).ok());
  run_sql(store_file(then.path()), kVersion4Rows);
  EXPECT_EQ(everything_in(store_file(today.path())), everything_in(store_file(then.path())));
}

// Else a flipped bit could make a lost attempt one that failed.
TEST(SqliteStore, AnOutcomeThatWasChangedByOthersIsRefused) {
  for (const std::string sql :
       {"UPDATE attempts SET outcome=1 WHERE outcome=5", "UPDATE progress SET stop_cause=0"}) {
    TemporaryFolder folder;
    run_sql(store_file(folder.path()), std::string(kVersion1) + kVersion2 + kVersion3 +
                                           kVersion3Rows + kVersion4 + kVersion4Rows);
    ASSERT_TRUE(opened(folder.path())->load().ok());
    run_sql(store_file(folder.path()), sql);
    EXPECT_FALSE(opened(folder.path())->load().ok()) << sql;
  }
}

TEST(SqliteStore, ADatabaseOfSomebodyElseIsRefused) {
  TemporaryFolder folder;
  sqlite3* database = nullptr;
  sqlite3_open(store_file(folder.path()).c_str(), &database);
  sqlite3_exec(database, "CREATE TABLE t(x)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const auto refused = open_store(folder.path(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("not a store of partita"), std::string::npos);
}

// Opens what a damaged file left. Either it is refused by name, or every job in it was written.
void expect_whole_or_refused(const Sample& sample, const std::string& what) {
  const auto store = open_store(sample.folder.path(), {});
  if (!store.ok()) {
    EXPECT_NE(store.error().message.find(sample.file()), std::string::npos) << what;
    return;
  }
  const auto contents = (*store)->load();
  if (!contents.ok()) {
    EXPECT_NE(contents.error().message.find(sample.file()), std::string::npos) << what;
    return;
  }
  MemoryStore model = sample.model;
  EXPECT_EQ(contents->jobs, model.load()->jobs) << what;
  EXPECT_EQ(contents->attempts, model.load()->attempts) << what;
  EXPECT_EQ(contents->instances, model.load()->instances) << what;
}

TEST(SqliteStore, ATruncatedFileIsRefusedOrHarmless) {
  Sample sample(6);
  const std::string whole = bytes_of(sample.file());
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const std::size_t size = i == 0 ? 0 : rng.below(whole.size());
    write_bytes(sample.file(), whole.substr(0, size));
    fs::remove(sample.file() + "-wal");
    expect_whole_or_refused(sample, std::to_string(size) + " bytes");
  }
}

TEST(SqliteStore, FlippedBitsAreRefusedOrHarmless) {
  Sample sample(7);
  const std::string whole = bytes_of(sample.file());
  Rng rng(2);
  for (int i = 0; i < 2'000; ++i) {
    std::string flipped = whole;
    const std::size_t at = rng.below(whole.size());
    flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << rng.below(8)));
    write_bytes(sample.file(), flipped);
    fs::remove(sample.file() + "-wal");
    expect_whole_or_refused(sample, "byte " + std::to_string(at));
  }
}

TEST(SqliteStore, WhatIsReservedForTheLogIsOfTheDiskBeforeItIsWritten) {
  const test::TemporaryFolder folder;
  const auto store = open_store(folder.path(), {});
  ASSERT_TRUE(store.ok());
  constexpr std::uint64_t kBytes = 8U << 20U;
  const Status reserved = (*store)->reserve(kBytes);
  if (!reserved) GTEST_SKIP() << reserved.error().message;
  struct stat log {};
  ASSERT_EQ(::stat((store_file(folder.path()) + "-wal").c_str(), &log), 0);
  EXPECT_GE(static_cast<std::uint64_t>(log.st_blocks) * 512, kBytes);
  EXPECT_LT(static_cast<std::uint64_t>(log.st_size), kBytes) << "SQLite does not see it";
  Rng rng(5);
  std::int64_t jobs = 0;
  std::int64_t events = 0;
  std::int64_t turns = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*store)->commit(test::random_batch(rng, jobs, events, turns)).ok());
  }
  struct stat later {};
  ASSERT_EQ(::stat((store_file(folder.path()) + "-wal").c_str(), &later), 0);
  EXPECT_GT(later.st_size, log.st_size);
  EXPECT_EQ(later.st_blocks, log.st_blocks);
}

}  // namespace
}  // namespace partita::store
