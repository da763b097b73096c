// Every call of SQLite to the disk fails once: what was acknowledged is there, and nothing else.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/test_support.h"

namespace partita::store {
namespace {

// Which call fails, of all that write, sync, cut or open a file; and what it says.
struct Plan {
  int calls = 0;
  int failing = 0;  // 0: none
  int code = SQLITE_IOERR;
  int lasting = 1;  // so many calls, one after the other

  int fails() {
    ++calls;
    return calls >= failing && calls < failing + lasting && failing > 0 ? code : SQLITE_OK;
  }
};
Plan plan;

// A file of the system's VFS with a plan before it. Without shared memory, which a store that is
// opened by one process does without.
struct TorturedFile {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<TorturedFile*>(file)->real;
}

int close_file(sqlite3_file* file) {
  sqlite3_file* real = real_of(file);
  const int code = real->pMethods->xClose(real);
  sqlite3_free(real);
  return code;
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  if (const int code = plan.fails()) {
    // Half of it may have reached the disk.
    real_of(file)->pMethods->xWrite(real_of(file), from, size / 2, at);
    return code;
  }
  return real_of(file)->pMethods->xWrite(real_of(file), from, size, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = plan.fails()) return code;
  return real_of(file)->pMethods->xTruncate(real_of(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  if (const int code = plan.fails()) return code;
  return real_of(file)->pMethods->xSync(real_of(file), flags);
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
int lock_file(sqlite3_file* file, int level) {
  return real_of(file)->pMethods->xLock(real_of(file), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return real_of(file)->pMethods->xUnlock(real_of(file), level);
}
int check_lock(sqlite3_file* file, int* reserved) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
}
int control_file(sqlite3_file* file, int op, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), op, argument);
}
int sector_size(sqlite3_file* file) {
  return real_of(file)->pMethods->xSectorSize(real_of(file));
}
int characteristics(sqlite3_file* file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

const sqlite3_io_methods& tortured_methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods made{};
    made.iVersion = 1;
    made.xClose = close_file;
    made.xRead = read_file;
    made.xWrite = write_file;
    made.xTruncate = truncate_file;
    made.xSync = sync_file;
    made.xFileSize = size_of_file;
    made.xLock = lock_file;
    made.xUnlock = unlock_file;
    made.xCheckReservedLock = check_lock;
    made.xFileControl = control_file;
    made.xSectorSize = sector_size;
    made.xDeviceCharacteristics = characteristics;
    return made;
  }();
  return methods;
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* got) {
  auto* system = static_cast<sqlite3_vfs*>(vfs->pAppData);
  auto* tortured = reinterpret_cast<TorturedFile*>(file);
  tortured->base.pMethods = nullptr;
  if (plan.fails() != SQLITE_OK) return SQLITE_CANTOPEN;
  tortured->real = static_cast<sqlite3_file*>(sqlite3_malloc(system->szOsFile));
  std::memset(tortured->real, 0, static_cast<std::size_t>(system->szOsFile));
  const int code = system->xOpen(system, name, tortured->real, flags, got);
  if (code != SQLITE_OK) {
    sqlite3_free(tortured->real);
    return code;
  }
  tortured->base.pMethods = &tortured_methods();
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync) {
  auto* system = static_cast<sqlite3_vfs*>(vfs->pAppData);
  if (plan.fails() != SQLITE_OK) return SQLITE_IOERR_DELETE;
  return system->xDelete(system, name, sync);
}

// A file that cannot be opened has its reason here only.
int last_error(sqlite3_vfs*, int, char*) {
  return plan.code == SQLITE_FULL ? ENOSPC : EIO;
}

// The default as long as it lives.
class TorturedDisk {
 public:
  TorturedDisk() : system_(sqlite3_vfs_find(nullptr)), vfs_(*system_) {
    vfs_.zName = "tortured";
    vfs_.szOsFile = sizeof(TorturedFile);
    vfs_.pAppData = system_;
    vfs_.xOpen = open_file;
    vfs_.xDelete = delete_file;
    vfs_.xGetLastError = last_error;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~TorturedDisk() { sqlite3_vfs_unregister(&vfs_); }
  TorturedDisk(const TorturedDisk&) = delete;
  TorturedDisk& operator=(const TorturedDisk&) = delete;

 private:
  sqlite3_vfs* system_;
  sqlite3_vfs vfs_;
};

std::vector<Batch> script() {
  Rng rng(3);
  std::int64_t jobs = 0;
  std::int64_t events = 0;
  std::int64_t turns = 0;
  std::vector<Batch> batches;
  for (int i = 0; i < 8; ++i) batches.push_back(test::random_batch(rng, jobs, events, turns));
  return batches;
}

// Runs the script until something fails; how many batches were acknowledged.
std::size_t run_script(const std::string& folder, const std::vector<Batch>& batches) {
  const auto store = open_store(folder, {});
  if (!store) return 0;
  std::size_t acknowledged = 0;
  for (const Batch& batch : batches) {
    if (!(*store)->commit(batch).ok()) return acknowledged;
    ++acknowledged;
  }
  const Status anew = (*store)->begin_journal_anew();
  EXPECT_TRUE(anew.ok() || plan.failing != 0);
  return acknowledged;
}

Contents after(const std::vector<Batch>& batches, std::size_t count) {
  MemoryStore model;
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(model.commit(batches[i]).ok());
  return *model.load();
}

void torture(int code) {
  const TorturedDisk disk;
  const std::vector<Batch> batches = script();
  plan = Plan{};
  {
    const test::TemporaryFolder folder;
    ASSERT_EQ(run_script(folder.path(), batches), batches.size());
  }
  const int calls = plan.calls;
  ASSERT_GT(calls, 50);
  testing::Test::RecordProperty("calls", calls);
  for (int failing = 1; failing <= calls; ++failing) {
    const test::TemporaryFolder folder;
    plan = Plan{0, failing, code};
    const std::size_t acknowledged = run_script(folder.path(), batches);
    plan = Plan{};
    auto store = open_store(folder.path(), {});
    // A store that was never made may be there as an empty file, and is refused by name.
    if (!store && acknowledged == 0) {
      EXPECT_NE(store.error().message.find("partita.db"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(store.ok()) << "call " << failing << ": " << store.error().message;
    const auto contents = (*store)->load();
    ASSERT_TRUE(contents.ok()) << "call " << failing << ": " << contents.error().message;
    const bool before = *contents == after(batches, acknowledged);
    const bool with_next =
        acknowledged < batches.size() && *contents == after(batches, acknowledged + 1);
    EXPECT_TRUE(before || with_next)
        << "call " << failing << ", " << acknowledged << " acknowledged";
    EXPECT_TRUE((*store)->journal_base().ok()) << "call " << failing;
  }
}

// What somebody would find who copied the folder, or whose machine went down now.
Contents found_in_copy(const std::string& folder) {
  const Plan before = std::exchange(plan, Plan{});
  const test::TemporaryFolder copy;
  std::filesystem::copy(folder, copy.path() + "/state", std::filesystem::copy_options::recursive);
  const auto store = open_store(copy.path() + "/state", {});
  EXPECT_TRUE(store.ok());
  Contents contents = *(*store)->load();
  plan = before;
  return contents;
}

// Commits everything, each batch until it is taken. How often one had to be tried again.
int commit_all(const std::string& folder, Store& store, const std::vector<Batch>& batches) {
  int tries = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (bool checked = false;; checked = true, ++tries) {
      const Status committed = store.commit(batches[i]);
      if (committed.ok()) break;
      EXPECT_TRUE(store.out_of_space()) << committed.error().message;
      if (!store.out_of_space()) return tries;
      // It can be read meanwhile.
      EXPECT_EQ(*store.load(), after(batches, i));
      if (checked) continue;
      const Contents copied = found_in_copy(folder);
      EXPECT_TRUE(copied == after(batches, i) || copied == after(batches, i + 1));
    }
  }
  return tries;
}

TEST(Torture, ADiskThatIsFullForAWhileLosesNothingAndTheStoreGoesOn) {
  const TorturedDisk disk;
  const std::vector<Batch> batches = script();
  int calls_of_opening = 0;
  int calls = 0;
  {
    const test::TemporaryFolder folder;
    plan = Plan{};
    const auto store = open_store(folder.path(), {});
    calls_of_opening = plan.calls;
    ASSERT_EQ(commit_all(folder.path(), **store, batches), 0);
    calls = plan.calls;
  }
  ASSERT_GT(calls, calls_of_opening + 20);
  int tries = 0;
  for (int failing = calls_of_opening + 1; failing <= calls; ++failing) {
    SCOPED_TRACE(failing);
    const test::TemporaryFolder folder;
    plan = Plan{};
    {
      const auto store = open_store(folder.path(), {});
      ASSERT_TRUE(store.ok());
      plan = Plan{plan.calls, failing, SQLITE_FULL, 1 + failing % 7};
      tries += commit_all(folder.path(), **store, batches);
      EXPECT_EQ(*(*store)->load(), after(batches, batches.size()));
      plan = Plan{};
    }
    const auto again = open_store(folder.path(), {});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*(*again)->load(), after(batches, batches.size()));
  }
  EXPECT_GT(tries, calls - calls_of_opening);
}

// From the call that fails on there is no space. Whether the journal is closed then: its turns are
// gone, and the copy that is to be the base of those to come could not be made.
bool closed_without_space(int failing) {
  const std::vector<Batch> batches = script();
  const Contents all = after(batches, batches.size());
  const test::TemporaryFolder folder;
  plan = Plan{};
  bool closed = false;
  {
    const auto store = open_store(folder.path(), {});
    EXPECT_EQ(commit_all(folder.path(), **store, batches), 0);
    plan = Plan{0, failing, SQLITE_FULL, 1'000};
    EXPECT_FALSE((*store)->begin_journal_anew().ok());
    EXPECT_TRUE((*store)->out_of_space());
    EXPECT_EQ(*(*store)->load(), all);
    closed = (*store)->journal_size()->closed;
    plan = Plan{};
  }
  const auto again = open_store(folder.path(), {});
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(*(*again)->load(), all);
  EXPECT_TRUE((*again)->begin_journal_anew().ok());
  EXPECT_FALSE((*again)->journal_size()->closed);
  EXPECT_EQ(*(*again)->journal_base(), all);
  return closed;
}

TEST(Torture, AJournalThatHasNoSpaceForItsBaseIsClosedAndTheStoreOpensAllTheSame) {
  const TorturedDisk disk;
  int closed = 0;
  constexpr int kCalls = 12;
  for (int failing = 1; failing <= kCalls; ++failing) {
    SCOPED_TRACE(failing);
    if (closed_without_space(failing)) ++closed;
  }
  EXPECT_GT(closed, 0);
  EXPECT_LT(closed, kCalls) << "the turns stay where there is no space to drop them";
}

TEST(Torture, EveryCallFailsOnceWithAnError) {
  torture(SQLITE_IOERR);
}

TEST(Torture, EveryCallFailsOnceForWantOfSpace) {
  torture(SQLITE_FULL);
}

}  // namespace
}  // namespace partita::store
