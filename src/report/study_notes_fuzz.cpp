// Any bytes as a NAME.study.json: no crash, and what is accepted prints and reads back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "report/study_notes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::report;
  const auto notes = parse_notes({reinterpret_cast<const char*>(data), size});
  if (!notes) return 0;
  const std::string text = format_notes(*notes);
  const auto back = parse_notes(text);
  CHECK(back.ok());
  CHECK(format_notes(*back) == text);
  return 0;
}
