// Whatever is read as a certificate is checked without harm, and writes and reads as itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "bounds/certificate.h"
#include "bounds/test_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::bounds;
  static const Problem problem = random_problem(1, 2, 1);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const partita::Result<Certificate> read = parse_certificate(text);
  if (!read) return 0;
  verify(*read, problem);
  const std::string written = to_text(*read, problem);
  const partita::Result<Certificate> again = parse_certificate(written);
  CHECK(again.ok() && to_text(*again, problem) == written);
  return 0;
}
