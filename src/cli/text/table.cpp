#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::cli {
namespace {

constexpr std::string_view kGap = "  ";

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<Table::Column>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t blanks = widths[i] - shown_width(cells[i]);
    if (i > 0) line += kGap;
    if (columns[i].align == Align::kRight) line.append(blanks, ' ');
    line += cells[i];
    if (columns[i].align == Align::kLeft) line.append(blanks, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string with_commas(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string shown_number(double number) {
  constexpr double kReadable = 1e12;
  const bool whole = number >= 0 && number <= kReadable && std::floor(number) == number;
  return whole ? with_commas(static_cast<std::uint64_t>(number)) : fmt::format("{}", number);
}

void Table::add(std::vector<std::string> row) {
  CHECK(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = shown_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, shown_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::text(bool bold) const {
  const std::vector<std::size_t> width = widths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const std::string head = line_of(titles, width, columns_);
  std::string text = bold ? fmt::format("\x1b[1m{}\x1b[0m\n", head) : head + "\n";
  for (const auto& row : rows_) text += line_of(row, width, columns_) + "\n";
  return text;
}

}  // namespace partita::cli
