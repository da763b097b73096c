// Every call of SQLite to the disk fails once: what was acknowledged is there, and nothing else.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstring>
#include <memory>
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

  int fails() { return ++calls == failing ? code : SQLITE_OK; }
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

// The default as long as it lives.
class TorturedDisk {
 public:
  TorturedDisk() : system_(sqlite3_vfs_find(nullptr)), vfs_(*system_) {
    vfs_.zName = "tortured";
    vfs_.szOsFile = sizeof(TorturedFile);
    vfs_.pAppData = system_;
    vfs_.xOpen = open_file;
    vfs_.xDelete = delete_file;
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

TEST(Torture, EveryCallFailsOnceWithAnError) {
  torture(SQLITE_IOERR);
}

TEST(Torture, EveryCallFailsOnceForWantOfSpace) {
  torture(SQLITE_FULL);
}

}  // namespace
}  // namespace partita::store
