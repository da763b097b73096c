// Any bytes as a NAME.day.json: no crash, and what is accepted goes into a page and out again.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "report/day_check.h"
#include "report/page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::report;
  const auto days = parse_days({reinterpret_cast<const char*>(data), size});
  if (!days) return 0;
  const partita::experiment::RunRecord run;
  static_cast<void>(check_days_are_of(*days, {&run, 1}));
  const std::string page = fill_page("[__PARTITA_DATA__]", *days);
  CHECK(page.find('<') == std::string::npos);
  CHECK(parse_days(page.substr(1, page.size() - 2)).ok());
  return 0;
}
