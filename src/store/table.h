// TableOf: the table of one kind of row, its statements and its checksums, from what the row says
// of itself.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "base/record.h"
#include "store/statement.h"
#include "store/store.h"

namespace partita::store {

// Every column of a row but its checksum. Of a row within it, those of its key.
template <typename Row, typename Visit>
void each_column(Row& row, Visit&& visit) {
  Description<std::remove_const_t<Row>>::fields(row, [&](const Field& field, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (Described<T>) {
      int left = T::kTable.keys;
      each_column(value, [&](const Field& inner, auto& part) {
        if (left-- > 0) visit(inner, part);
      });
    } else {
      visit(field, value);
    }
  });
}

template <typename Row>
std::int64_t sum_of(const Row& row) {
  RowSum sum;
  SumFields all(sum);
  each_column(row, [&](Field field, const auto& value) {
    field.digest = true;  // a row is checked as a whole, whatever digests of turns leave out
    all(field, value);
  });
  return sum.value();
}

struct Column {
  std::string name;
  std::string type;
  bool added = false;  // tables that were made without it get it
};

// All columns of a row, its checksum the last.
template <typename Row>
std::vector<Column> columns_of() {
  std::vector<Column> columns;
  const Row row{};
  each_column(row, [&](const Field& field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    const char* type = WholeNumber<T> ? "INTEGER" : std::same_as<T, double> ? "REAL" : "TEXT";
    columns.push_back(
        {std::string(field.name), field.bytes ? "BLOB" : type, field.encoding == Encoding::kNamed});
  });
  columns.push_back({"sum", "INTEGER"});
  return columns;
}

// The names of the first so many columns, or of all, with `between` between them.
std::string names_of(const std::vector<Column>& columns, std::size_t count = SIZE_MAX,
                     std::string_view between = ", ");

// Makes the table where there is none, and gives one that is there the columns it lacks. False: the
// connection has the error.
bool make_table(sqlite3* database, const Table& table, const std::vector<Column>& columns);

template <typename Row>
class TableOf {
 public:
  static std::string columns() { return names_of(columns_of<Row>()); }
  static bool make(sqlite3* database) {
    return make_table(database, Row::kTable, columns_of<Row>());
  }

  bool prepare(sqlite3* database);

  bool put(const Row& row) {
    each_column(row, [this](const Field&, const auto& value) {
      if constexpr (WholeNumber<std::remove_cvref_t<decltype(value)>>) {
        put_.bind(to_whole(value));
      } else {
        put_.bind(value);
      }
    });
    return put_.bind(sum_of(row)).run();
  }
  bool drop(const auto&... keys) { return (drop_.bind(keys), ...).run(); }
  // In order of their keys.
  Statement& all() { return all_; }

  // Reads what columns() gave. False: it is not what was written.
  static bool read(Statement& from, Row& row) {
    each_column(row, [&](const Field&, auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (WholeNumber<T>) {
        set_whole(value, from.integer());
      } else if constexpr (std::same_as<T, double>) {
        value = from.real();
      } else {
        value = from.text();
      }
    });
    return from.integer() == sum_of(row);
  }

 private:
  Statement put_, drop_, all_;
};

template <typename Row>
bool TableOf<Row>::prepare(sqlite3* database) {
  constexpr Table table = Row::kTable;
  const std::vector<Column> columns = columns_of<Row>();
  std::string places = "?";
  for (std::size_t i = 1; i < columns.size(); ++i) places += ",?";
  const std::string name(table.name);
  put_ = Statement(database, (table.once ? "INSERT INTO " : "REPLACE INTO ") + name + "(" +
                                 names_of(columns) + ") VALUES(" + places + ")");
  drop_ = Statement(database, "DELETE FROM " + name + " WHERE " +
                                  names_of(columns, table.keys, "=? AND ") + "=?");
  all_ = Statement(database, "SELECT " + names_of(columns) + " FROM " + name + " ORDER BY " +
                                 names_of(columns, table.keys));
  return put_.prepared() && drop_.prepared() && all_.prepared();
}

// All of them, the journal's own number aside.
using Tables = std::tuple<TableOf<JobRow>, TableOf<JobProgress>, TableOf<AttemptRow>,
                          TableOf<InstanceRow>, TableOf<IntentRow>, TableOf<EventRow>,
                          TableOf<PeakRow>, TableOf<TurnRow>, TableOf<GpuRow>, TableOf<TotalRow>>;

}  // namespace partita::store
