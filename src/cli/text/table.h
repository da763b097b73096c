// Table: rows of text in aligned columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace partita::cli {

enum class Align : unsigned char { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell a column.
  void add(std::vector<std::string> row);
  // The titles in bold when asked; no blanks at the ends of lines.
  std::string text(bool bold) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns on the screen: bytes of UTF-8 that continue a character do not count.
std::size_t shown_width(std::string_view text);

// "1,234,567".
std::string with_commas(std::uint64_t count);

// Whole numbers with commas while they are readable, others as short as they go.
std::string shown_number(double number);

}  // namespace partita::cli
