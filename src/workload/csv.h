// CSV: one line into fields (RFC 4180 quotes), columns by name, and the sentence for a bad field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/bytes.h"

namespace partita::workload {

// Keeps its buffers between lines, so that splitting allocates nothing after the first few.
class CsvSplitter {
 public:
  // False when a quote is open at the end of the line or text follows a closing quote; a quoted
  // field may not span lines. Blanks around an unquoted field are not part of it. The fields are
  // views of `line` and of the splitter, valid until either changes.
  bool split(std::string_view line);
  std::span<const std::string_view> fields() const { return fields_; }

 private:
  bool split_quoted(std::string_view line);

  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

// Appends one field, quoted where the reader needs it. REQUIRES: no line feed in `field`.
void append_csv_field(std::string& line, std::string_view field);

// A found text as messages show it: quoted, control characters as '?', shortened when long.
std::string shown(std::string_view found);

enum class RowState { kEnd, kRow, kBad };

// A file with a header line, row by row. Blank lines are passed over.
class CsvTable {
 public:
  // Reads the header; `wanted` ends the message for an empty file.
  static Result<CsvTable> open(const Input& input, std::string_view wanted);

  const std::string& name() const { return lines_.name(); }
  std::uint64_t line() const { return lines_.line_number(); }
  double progress() const { return lines_.progress(); }

  std::span<const std::string> columns() const { return columns_; }
  std::optional<std::size_t> column(std::string_view column_name) const;
  // The position of each; the error lists all that are missing.
  Result<std::vector<std::size_t>> require(std::span<const std::string_view> names) const;

  // An error when reading itself fails; kBad when only this row cannot be used (see row_error).
  Result<RowState> next();
  Error row_error() const;
  std::string_view field(std::size_t column) const { return splitter_.fields()[column]; }

  // "jobs.csv line 7, column t1_s: found 'abc', wanted seconds greater than 0".
  Error bad_field(std::size_t column, std::string_view wanted) const;
  // The same without a column: "jobs.csv line 7: ...".
  Error bad_row(std::string_view sentence) const;

 private:
  explicit CsvTable(LineReader lines) : lines_(std::move(lines)) {}
  Result<bool> next_line(std::string_view& line);
  Status set_columns();

  LineReader lines_;
  CsvSplitter splitter_;
  std::vector<std::string> columns_;
  bool quotes_ok_ = true;
};

}  // namespace partita::workload
