#include "launch/launcher.h"

namespace partita::launch {

std::string text_of(AttemptKey key) {
  return std::to_string(key.job.value) + "." + std::to_string(key.number);
}

}  // namespace partita::launch
