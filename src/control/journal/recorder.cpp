#include "control/journal/recorder.h"

#include "control/planted.h"

namespace partita::control {
namespace {

// A turn that waits costs memory; this much is written even when nothing else is.
constexpr std::int64_t kWaitingBytesMax = 256 * 1024;
// Of a row beside its inputs, about.
constexpr std::int64_t kRowBytes = 40;

}  // namespace

void Recorder::begin(Micros now, const Beginning& beginning, Turn& turn) {
  writer_ = InputWriter{};
  if (closed_) return;
  add(now, store::TurnKind::kBegin, encode_beginning(beginning), turn);
}

void Recorder::note(Micros now, std::span<const Input> inputs, Turn& turn) {
  if (closed_) return;
  if (PLANTED(journal_skips_quiet_turn) && turn.batch.empty()) return;
  add(now, store::TurnKind::kStep, writer_.encode(inputs), turn);
}

void Recorder::add(Micros now, store::TurnKind kind, std::string bytes, Turn& turn) {
  const auto size = static_cast<std::int64_t>(bytes.size()) + kRowBytes;
  if (first_ == Micros{}) first_ = now;
  const bool old = limits_.age > Micros{} && now - first_ > limits_.age;
  closed_ = size > kTurnBytesMax || bytes_ + size > limits_.bytes || old;
  if (closed_) {
    kind = store::TurnKind::kClose;
    bytes.clear();
  }
  bytes_ += size;
  waiting_bytes_ += size;
  waiting_.push_back({++number_, now.count, kind, digest_of(turn), std::move(bytes)});
  if (turn.batch.empty() && waiting_bytes_ < kWaitingBytesMax && !closed_) return;
  turn.batch.turns = std::move(waiting_);
  waiting_.clear();
  waiting_bytes_ = 0;
}

}  // namespace partita::control
