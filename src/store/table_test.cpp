#include "store/table.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace partita::store {
namespace {

struct Row {
  std::int64_t id = 0;
  std::string name;
  double size = 0;

  static constexpr Table kTable{"things"};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "id", row.id, "name", row.name, "size", row.size);
  }
  bool operator==(const Row&) const = default;
};

// The same table after two columns were added to its rows.
struct WiderRow : Row {
  std::int64_t rank = 0;
  std::string note;

  static void fields(auto& row, auto&& visit) {
    Row::fields(row, visit);
    visit(Field{.name = "rank", .encoding = Encoding::kNamed}, row.rank);
    visit(Field{.name = "note", .encoding = Encoding::kNamed}, row.note);
  }
  bool operator==(const WiderRow&) const = default;
};

struct PairRow {
  std::string left;
  std::int64_t right = 0;
  Row inner;

  static constexpr Table kTable{"pairs", 2, true};
  static void fields(auto& row, auto&& visit) {
    visit_named(visit, "left", row.left, "right", row.right, "inner", row.inner);
  }
};

class TableTest : public testing::Test {
 protected:
  TableTest() { sqlite3_open(":memory:", &database_); }
  ~TableTest() override { sqlite3_close(database_); }

  template <typename R>
  std::vector<R> all() {
    TableOf<R> table;
    EXPECT_TRUE(table.prepare(database_)) << sqlite3_errmsg(database_);
    std::vector<R> rows;
    while (table.all().next()) {
      EXPECT_TRUE(TableOf<R>::read(table.all(), rows.emplace_back()));
    }
    return rows;
  }
  template <typename R>
  bool put(const R& row) {
    TableOf<R> table;
    EXPECT_TRUE(table.prepare(database_)) << sqlite3_errmsg(database_);
    return table.put(row);
  }

  sqlite3* database_ = nullptr;
};

TEST_F(TableTest, RowsOfBeforeAColumnWasAddedAreReadAndKeepTheirSums) {
  ASSERT_TRUE(TableOf<Row>::make(database_));
  ASSERT_TRUE(put(Row{2, "b", 1.5}) && put(Row{1, "it's", 0}));
  ASSERT_TRUE(TableOf<WiderRow>::make(database_)) << sqlite3_errmsg(database_);
  ASSERT_TRUE(TableOf<WiderRow>::make(database_)) << "again is no harm";
  WiderRow added;
  added.id = 3;
  added.rank = 4;
  added.note = "n";
  ASSERT_TRUE(put(added));
  const std::vector<WiderRow> rows = all<WiderRow>();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(static_cast<const Row&>(rows[0]), (Row{1, "it's", 0}));
  EXPECT_EQ(rows[1].rank, 0);
  EXPECT_EQ(rows[2], added);
}

TEST_F(TableTest, ARowThatWasChangedByOthersIsNotReadAsOurs) {
  ASSERT_TRUE(TableOf<WiderRow>::make(database_));
  WiderRow row;
  row.id = 1;
  ASSERT_TRUE(put(row));
  sqlite3_exec(database_, "UPDATE things SET rank=1", nullptr, nullptr, nullptr);
  TableOf<WiderRow> table;
  ASSERT_TRUE(table.prepare(database_));
  ASSERT_TRUE(table.all().next());
  EXPECT_FALSE(TableOf<WiderRow>::read(table.all(), row));
}

TEST_F(TableTest, ARowWithinARowIsThereByItsKeyAndWhatIsWrittenOnceIsNotReplaced) {
  ASSERT_TRUE(TableOf<PairRow>::make(database_));
  EXPECT_EQ(TableOf<PairRow>::columns(), "left, right, id, sum");
  ASSERT_TRUE(put(PairRow{"a", 1, {7, "not here", 2}}));
  EXPECT_FALSE(put(PairRow{"a", 1, {8, "", 0}}));
  EXPECT_TRUE(put(PairRow{"a", 2, {8, "", 0}}));
  ASSERT_EQ(all<PairRow>().size(), 2U);
  EXPECT_EQ(all<PairRow>()[0].inner, (Row{7, "", 0}));
  TableOf<PairRow> table;
  ASSERT_TRUE(table.prepare(database_));
  EXPECT_TRUE(table.drop(std::string("a"), std::int64_t{1}));
  EXPECT_EQ(all<PairRow>().size(), 1U);
}

}  // namespace
}  // namespace partita::store
