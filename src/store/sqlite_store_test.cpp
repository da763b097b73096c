#include "store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

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
    EXPECT_EQ(*store->events(0, 1000), *model.events(0, 1000));
    EXPECT_EQ(*store->events(2, 5), *model.events(2, 5));
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
  more.forgotten_jobs = {1, 2};
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
  batch.forgotten_jobs = {1, 3};
  ASSERT_TRUE(store->commit(batch).ok());
  ASSERT_TRUE(sample.model.commit(batch).ok());
  EXPECT_EQ(store->load()->jobs, sample.model.load()->jobs);
  EXPECT_EQ(store->load()->attempts, sample.model.load()->attempts);
  EXPECT_TRUE(store->events(1, 10)->empty());
}

TEST(SqliteStore, ABatchThatFailsLeavesNothingBehindAndClosesTheStore) {
  TemporaryFolder folder;
  auto store = opened(folder.path());
  Batch batch;
  batch.new_jobs.resize(2);
  batch.new_jobs[0].progress.id = batch.new_jobs[1].progress.id = 7;
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

TEST(SqliteStore, AnOlderVersionIsMovedUp) {
  TemporaryFolder folder;
  ASSERT_TRUE(make_oldest_version(store_file(folder.path())).ok());
  MemoryStore model;
  write_some(*opened(folder.path()), model, 5, 20);
  EXPECT_EQ(*opened(folder.path())->load(), *model.load());
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

}  // namespace
}  // namespace partita::store
