// Any bytes as a line of a result file: no crash, and what is accepted prints and reads back equal.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "experiment/results/run_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::experiment;
  const partita::Result<RunRecord> record =
      parse_record({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  const partita::Result<RunRecord> back = parse_record(format_record(*record));
  CHECK(back.ok());
  CHECK(*back == *record);
  return 0;
}
