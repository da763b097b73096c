// Screen: a picture that is drawn anew until somebody leaves, of more than a terminal may show.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/output/fd_writer.h"

namespace partita::cli {

// Lines that always show, and blocks of lines of which as many show as there is room for.
struct ScreenPage {
  std::string head;
  std::vector<std::string> blocks;
  std::string noun;  // what the blocks are: "GPUs"
};

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

// What shows from the block `first` on: at most `rows` lines of at most `columns` characters, the
// last of which counts the blocks that do not show. Sequences of escape codes take no column.
std::string fit_page(const ScreenPage& page, ScreenSize size, std::size_t first);

// Where a key moves to. 0 for a key that does not move.
enum class ScreenKey : unsigned char { kNone, kDown, kUp, kPageDown, kPageUp, kTop, kEnd, kQuit };
// The keys in what was read from a terminal, in their order.
std::vector<ScreenKey> keys_in(const std::string& bytes);

class Screen {
 public:
  // Until it is gone the terminal gives keys at once and does not show them.
  explicit Screen(FdWriter& out);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Draws it, again after every key, until the time is over; false: somebody wants to leave, or
  // nobody reads.
  bool show(const ScreenPage& page, int milliseconds);

 private:
  bool take_keys(const ScreenPage& page);

  FdWriter& out_;
  bool keys_ = false;  // stdin is a terminal
  termios before_{};
  std::size_t first_ = 0;
};

}  // namespace partita::cli
