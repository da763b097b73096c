#include "workload/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace partita::workload {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool CsvSplitter::split(std::string_view line) {
  fields_.clear();
  if (std::memchr(line.data(), '"', line.size()) != nullptr) return split_quoted(line);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != ',') continue;
    fields_.push_back(trim_blanks(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  fields_.push_back(trim_blanks(line.substr(begin)));
  return true;
}

bool CsvSplitter::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // never grows below, so the views into it stay valid
  while (true) {
    const std::string_view rest = trim_blanks(line);
    if (!rest.starts_with('"')) {
      const std::size_t comma = line.find(',');
      fields_.push_back(trim_blanks(line.substr(0, comma)));
      if (comma == std::string_view::npos) return true;
      line.remove_prefix(comma + 1);
      continue;
    }
    const std::size_t begin = unquoted_.size();
    std::size_t i = 1;
    while (true) {
      if (i >= rest.size()) return false;
      if (rest[i] == '"' && i + 1 < rest.size() && rest[i + 1] == '"')
        ++i;
      else if (rest[i] == '"')
        break;
      unquoted_.push_back(rest[i++]);
    }
    fields_.emplace_back(unquoted_.data() + begin, unquoted_.size() - begin);
    const std::string_view after = trim_blanks(rest.substr(i + 1));
    if (after.empty()) return true;
    if (after.front() != ',') return false;
    line = after.substr(1);
  }
}

void append_csv_field(std::string& line, std::string_view field) {
  CHECK(field.find('\n') == std::string_view::npos);
  const bool plain = field.find_first_of(",\"\r") == std::string_view::npos &&
                     (field.empty() || (!is_blank(field.front()) && !is_blank(field.back())));
  if (plain) {
    line.append(field);
    return;
  }
  line.push_back('"');
  for (const char c : field) {
    if (c == '"') line.push_back('"');
    line.push_back(c);
  }
  line.push_back('"');
}

std::string shown(std::string_view found) {
  constexpr std::size_t kShownMax = 60;
  std::string text(found.substr(0, kShownMax));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return fmt::format("'{}{}'", text, found.size() > kShownMax ? "..." : "");
}

Result<CsvTable> CsvTable::open(const Input& input, std::string_view wanted) {
  Result<LineReader> lines = LineReader::open(input);
  if (!lines) return lines.error();
  CsvTable table(*std::move(lines));
  std::string_view line;
  const Result<bool> more = table.next_line(line);
  if (!more) return more.error();
  if (!*more) {
    return Error{fmt::format("{} is empty; wanted a header line: {}", table.name(), wanted)};
  }
  if (!table.splitter_.split(line)) return table.bad_row("a quote is not closed on this line");
  if (const Status status = table.set_columns(); !status) return status.error();
  return table;
}

Result<bool> CsvTable::next_line(std::string_view& line) {
  while (true) {
    const Result<bool> more = lines_.next(line);
    if (!more || !*more) return more;
    if (!line.empty() && !trim_blanks(line).empty()) return true;
  }
}

Status CsvTable::set_columns() {
  for (const std::string_view field : splitter_.fields()) {
    if (!field.empty() && column(field)) {
      return bad_row(fmt::format("column {} appears twice in the header", shown(field)));
    }
    columns_.emplace_back(field);
  }
  return {};
}

std::optional<std::size_t> CsvTable::column(std::string_view column_name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column_name);
  if (found == columns_.end()) return {};
  return static_cast<std::size_t>(found - columns_.begin());
}

Result<std::vector<std::size_t>> CsvTable::require(std::span<const std::string_view> names) const {
  std::vector<std::size_t> positions;
  std::vector<std::string_view> missing;
  for (const std::string_view wanted : names) {
    if (const auto found = column(wanted))
      positions.push_back(*found);
    else
      missing.push_back(wanted);
  }
  if (missing.empty()) return positions;
  return bad_row(fmt::format("missing {} {}; wanted {}", missing.size() == 1 ? "column" : "columns",
                             fmt::join(missing, ", "), fmt::join(names, ",")));
}

Result<RowState> CsvTable::next() {
  std::string_view line;
  const Result<bool> more = next_line(line);
  if (!more) return more.error();
  if (!*more) return RowState::kEnd;
  quotes_ok_ = splitter_.split(line);
  const bool ok = quotes_ok_ && splitter_.fields().size() == columns_.size();
  return ok ? RowState::kRow : RowState::kBad;
}

Error CsvTable::row_error() const {
  if (!quotes_ok_) return bad_row("a quote is not closed on this line");
  return bad_row(fmt::format("found {} fields, wanted {} as in the header",
                             splitter_.fields().size(), columns_.size()));
}

Error CsvTable::bad_field(std::size_t column, std::string_view wanted) const {
  return {fmt::format("{} line {}, column {}: found {}, wanted {}", name(), line(),
                      columns_[column], shown(field(column)), wanted)};
}

Error CsvTable::bad_row(std::string_view sentence) const {
  return {fmt::format("{} line {}: {}", name(), line(), sentence)};
}

}  // namespace partita::workload
