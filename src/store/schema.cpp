#include "store/schema.h"

#include <fmt/format.h>

#include <optional>

#include "base/failpoint.h"
#include "store/table.h"

namespace partita::store {
namespace {

// What no row says of itself. The journal's number is that of the first turn since it was begun
// anew.
constexpr const char* kBesideTables = R"(
CREATE INDEX IF NOT EXISTS events_of_job ON events(job, sequence);
CREATE TABLE IF NOT EXISTS journal(first INTEGER NOT NULL);
INSERT INTO journal SELECT 1 WHERE NOT EXISTS(SELECT 1 FROM journal);
)";

bool execute(sqlite3* database, const std::string& sql) {
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::optional<std::int64_t> single_number(sqlite3* database, std::string_view sql) {
  Statement statement(database, sql);
  if (!statement.prepared() || !statement.next()) return {};
  return statement.integer();
}

template <typename... Table>
bool make_all(sqlite3* database, const std::tuple<Table...>*) {
  return (Table::make(database) && ...);
}

// Tables and columns that are not there yet are made; version 1 had no table of peaks, version 2 no
// journal, version 3 neither outcomes nor causes of stops, version 4 nothing that
// steers the queue and no totals.
Status move_up(sqlite3* database, const std::string& path) {
  bool good = execute(database, "BEGIN EXCLUSIVE");
  good = good && make_all(database, static_cast<Tables*>(nullptr));
  good = good && execute(database, kBesideTables);
  FAILPOINT(store_migrating);
  good = good && execute(database, fmt::format("PRAGMA application_id={};PRAGMA user_version={}",
                                               kApplicationId, kSchemaVersion));
  good = good && execute(database, "COMMIT");
  if (good) return {};
  const std::string why = sqlite3_errmsg(database);
  execute(database, "ROLLBACK");
  return Error{
      fmt::format("the store {} cannot be brought to version {}: {}", path, kSchemaVersion, why)};
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
    return move_up(database, path);
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
  if (*version < kSchemaVersion) return move_up(database, path);
  return {};
}

}  // namespace partita::store
