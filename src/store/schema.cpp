#include "store/schema.h"

#include <fmt/format.h>

#include <optional>

#include "base/failpoint.h"
#include "store/statement.h"

namespace partita::store {
namespace {

// Version 1 had no table of peaks.
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
)";

constexpr const char* kVersion2 = R"(
CREATE TABLE peaks(uid INTEGER NOT NULL, name TEXT NOT NULL, peak_gib REAL NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(uid, name)) WITHOUT ROWID;
)";

// The journal: its turns, and the number of the first since it was begun anew.
constexpr const char* kVersion3 = R"(
CREATE TABLE turns(number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, kind INTEGER NOT NULL,
  digest INTEGER NOT NULL, inputs BLOB NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE journal(first INTEGER NOT NULL);
INSERT INTO journal VALUES(1);
)";

struct Step {
  int to;
  const char* sql;
};
constexpr Step kSteps[] = {{1, kVersion1}, {2, kVersion2}, {3, kVersion3}};

bool execute(sqlite3* database, const std::string& sql) {
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::optional<std::int64_t> single_number(sqlite3* database, std::string_view sql) {
  Statement statement(database, sql);
  if (!statement.prepared() || !statement.next()) return {};
  return statement.integer();
}

Status move_up(sqlite3* database, const std::string& path, std::int64_t from, int to) {
  bool good = execute(database, "BEGIN EXCLUSIVE");
  for (const Step& step : kSteps) {
    if (step.to > from && step.to <= to) good = good && execute(database, step.sql);
  }
  FAILPOINT(store_migrating);
  good = good && execute(database, fmt::format("PRAGMA application_id={};PRAGMA user_version={}",
                                               kApplicationId, to));
  good = good && execute(database, "COMMIT");
  if (good) return {};
  const std::string why = sqlite3_errmsg(database);
  execute(database, "ROLLBACK");
  return Error{fmt::format("the store {} cannot be brought to version {}: {}", path, to, why)};
}

}  // namespace

Error damaged(const std::string& path, const std::string& why) {
  return {fmt::format("the store {} is damaged ({}); move it away and restore a copy", path, why)};
}

Status bring_to_present(sqlite3* database, const std::string& path) {
  const auto tables = single_number(database, "SELECT count(*) FROM sqlite_master");
  const auto application = single_number(database, "PRAGMA application_id");
  const auto version = single_number(database, "PRAGMA user_version");
  if (!tables || !application || !version) return damaged(path, sqlite3_errmsg(database));
  if (*tables == 0 && *application == 0 && *version == 0) {
    return move_up(database, path, 0, kSchemaVersion);
  }
  if (*application != kApplicationId) {
    return Error{fmt::format("{} is a database, but not a store of partita", path)};
  }
  if (*version > kSchemaVersion) {
    return Error{
        fmt::format("the store {} has version {}, written by a newer partita; this one "
                    "reads versions {} to {}",
                    path, *version, kSchemaVersionMin, kSchemaVersion)};
  }
  if (*version < kSchemaVersionMin) {
    return Error{fmt::format("the store {} has version {}; this partita reads versions {} to {}",
                             path, *version, kSchemaVersionMin, kSchemaVersion)};
  }
  if (*version < kSchemaVersion) return move_up(database, path, *version, kSchemaVersion);
  return {};
}

Status make_oldest_version(const std::string& path) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  const Status made = move_up(database, path, 0, kSchemaVersionMin);
  sqlite3_close(database);
  return made;
}

}  // namespace partita::store
