// Any bytes as a trace of any dialect: no crash, and every job accepted prints and reads back
// equal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "workload/job_csv.h"
#include "workload/readers/registry.h"

namespace {

using partita::Result;
using namespace partita::workload;

void check_reads_back(const JobRow& row) {
  std::string text;
  write_header(text);
  write_row(text, row);
  const auto source = CsvJobSource::open(Input::memory(text, "printed"));
  CHECK(source.ok());
  JobRow back;
  const Result<bool> more = (*source)->next(back);
  CHECK(more.ok());
  CHECK(*more);
  CHECK(back.id == row.id);
  CHECK(back.job_class == row.job_class);
  CHECK(back.job == row.job);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // One value past the table: the header decides.
  const std::size_t choice = data[0] % (dialects().size() + 1);
  const std::string_view dialect = choice < dialects().size() ? dialects()[choice].name : "";
  ReaderOptions options;
  options.rows.skip_bad_rows = (data[0] & 0x80) != 0;
  options.philly_flatten = (data[0] & 0x40) != 0;
  options.openb_censored = options.philly_flatten;
  options.openb_smaller_slices = !options.philly_flatten;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto source = open_trace(Input::memory(text, "fuzz"), options, dialect);
  if (!source) return 0;
  JobRow row;
  while (true) {
    const Result<bool> more = (*source)->next(row);
    if (!more || !*more) break;
    check_reads_back(row);
  }
  (void)(*source)->warnings();
  return 0;
}
