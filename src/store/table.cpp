#include "store/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::store {
namespace {

std::vector<std::string> columns_there(sqlite3* database, const Table& table) {
  std::vector<std::string> names;
  Statement info(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table.name));
  while (info.prepared() && info.next()) names.push_back(info.text());
  return names;
}

std::string definition(const Column& column) {
  const char* none = column.type == "TEXT" || column.type == "BLOB" ? "''" : "0";
  return fmt::format("{} {} NOT NULL{}", column.name, column.type,
                     column.added ? fmt::format(" DEFAULT {}", none) : "");
}

// A table with a key of one number is kept by it; others by their key as well, without a number.
std::string create_sql(const Table& table, const std::vector<Column>& columns) {
  const bool by_number = table.keys == 1 && columns.front().type == "INTEGER";
  std::string sql = fmt::format("CREATE TABLE {}(", table.name);
  for (const Column& column : columns) {
    const bool key = by_number && &column == &columns.front();
    sql += key ? column.name + " INTEGER PRIMARY KEY" : definition(column);
    sql += &column == &columns.back() ? "" : ", ";
  }
  if (by_number) return sql + ")";
  return sql + fmt::format(", PRIMARY KEY({})) WITHOUT ROWID", names_of(columns, table.keys));
}

}  // namespace

std::string names_of(const std::vector<Column>& columns, std::size_t count,
                     std::string_view between) {
  std::string names;
  for (std::size_t i = 0; i < std::min(count, columns.size()); ++i) {
    if (i > 0) names += between;
    names += columns[i].name;
  }
  return names;
}

bool make_table(sqlite3* database, const Table& table, const std::vector<Column>& columns) {
  const std::vector<std::string> there = columns_there(database, table);
  std::string sql = there.empty() ? create_sql(table, columns) : "";
  for (const Column& column : columns) {
    const bool lacking = !there.empty() && std::ranges::find(there, column.name) == there.end();
    if (!lacking) continue;
    sql += fmt::format("ALTER TABLE {} ADD COLUMN {};", table.name, definition(column));
  }
  return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace partita::store
