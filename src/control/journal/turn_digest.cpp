// The digest of a turn: two turns that differ in anything they say or do have different ones, but
// for one chance in 2^64.
#include "base/row_sum.h"
#include "control/journal/foreign_records.h"
#include "control/journal/journal.h"

namespace partita::control {
namespace {

// Digests on disk have the whole numbers of an attempt first, then its texts, then its reals.
void add_attempts(SumFields& sum, const std::vector<store::AttemptRow>& attempts) {
  sum.add(attempts.size());
  for (const store::AttemptRow& attempt : attempts) {
    for (const int kind : {0, 1, 2}) {
      store::AttemptRow::fields(attempt, [&]<typename T>(const Field& field, const T& value) {
        const int own = WholeNumber<T> ? 0 : std::same_as<T, std::string> ? 1 : 2;
        if (own == kind) sum(field, value);
      });
    }
  }
}

}  // namespace

std::int64_t digest_of(const Turn& turn) {
  RowSum sum;
  SumFields all(sum);
  store::Batch::fields(turn.batch, [&]<typename Rows>(const Field& field, const Rows& rows) {
    if constexpr (std::same_as<Rows, std::vector<store::AttemptRow>>) {
      add_attempts(all, rows);
    } else {
      all(field, rows);
    }
  });
  all.add(turn.replies);
  all.add(turn.effects.size());
  for (const Effect& effect : turn.effects) {
    all.add(effect.index());
    std::visit([&](const auto& each) { all.add(each); }, effect);
  }
  return sum.value();
}

}  // namespace partita::control
