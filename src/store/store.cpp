#include "store/store.h"

namespace partita::store {

bool Batch::empty() const {
  return new_jobs.empty() && progress.empty() && attempts.empty() && instances.empty() &&
         gone_instances.empty() && intents.empty() && met_intents.empty() && events.empty() &&
         peaks.empty() && forgotten_jobs.empty() && turns.empty();
}

void Batch::clear() {
  *this = Batch{};
}

}  // namespace partita::store
