#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "control/journal/journal.h"

// What is read can be written, and then reads as the same; all else is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::control;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto beginning = decode_beginning(bytes);
  if (beginning) {
    const std::string written = encode_beginning(*beginning);
    const auto again = decode_beginning(written);
    if (!again || encode_beginning(*again) != written) std::abort();
  }
  // Two turns, so that differences to what was read before occur.
  InputReader reader;
  InputReader reader_again;
  InputWriter writer;
  InputWriter writer_again;
  for (int turn = 0; turn < 2; ++turn) {
    const auto inputs = reader.decode(bytes);
    if (!inputs) break;
    const std::string written = writer.encode(*inputs);
    const auto again = reader_again.decode(written);
    if (!again || again->size() != inputs->size()) std::abort();
    if (writer_again.encode(*again) != written) std::abort();
  }
  return 0;
}
