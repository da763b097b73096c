#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/flags/live_values.h"
#include "cli/flags/version.h"
#include "cli/live/daemon_client.h"
#include "cli/text/replay_text.h"
#include "cli/verbs/verbs.h"
#include "daemon/policy_pair.h"
#include "store/memory_store.h"
#include "store/sqlite_store.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;
using control::ReplayedTurn;

std::string begin_text(const control::Beginning& beginning) {
  return fmt::format("the daemon begins: {} x {}, {}, partita {}", beginning.gpus.size(),
                     beginning.model.title, beginning.policy, beginning.version);
}

std::string text_of(const ReplayedTurn& turn, const TurnLines& lines) {
  std::string text =
      fmt::format("turn {}  {}{}\n", turn.number, shown_instant(turn.at.to_seconds()),
                  turn.same ? "" : "  GAVE SOMETHING ELSE THEN");
  if (turn.beginning != nullptr) text += "  " + begin_text(*turn.beginning) + "\n";
  for (const std::string& line : lines.in) text += "  < " + line + "\n";
  for (const std::string& line : lines.out) text += "  > " + line + "\n";
  return text;
}

// Keeps what is to be shown: all of it, or the last few.
class Shown {
 public:
  Shown(const Values& values, Console& console) : console_(console) {
    json_ = values.has_switch("json");
    if (values.is_set("job-id"))
      job_ = JobNumber{static_cast<std::int64_t>(values.count("job-id"))};
    if (values.is_set("last")) last_ = static_cast<std::size_t>(values.count("last"));
  }

  void see(const ReplayedTurn& turn) {
    if (turn.beginning != nullptr) versions_other_ |= turn.beginning->version != kVersion;
    const TurnLines lines = lines_of(turn, job_);
    const bool quiet = lines.in.empty() && lines.out.empty();
    concerned_ = concerned_ || !quiet;
    if (quiet && turn.same && (turn.beginning == nullptr || job_)) return;
    if (json_) {
      turns_.push_back(turn_json(turn, lines));
      if (last_ && turns_.size() > *last_) turns_.pop_front();
    } else if (last_) {
      texts_.push_back(text_of(turn, lines));
      if (texts_.size() > *last_) texts_.pop_front();
    } else {
      console_.out.write(text_of(turn, lines));
    }
  }

  void finish(const control::ReplaySummary& summary);

 private:
  Console& console_;
  bool json_ = false;
  std::optional<JobNumber> job_;
  std::optional<std::size_t> last_;
  std::deque<Json> turns_;
  std::deque<std::string> texts_;
  bool versions_other_ = false;  // another program recorded some of it
  bool concerned_ = false;       // a turn had something to show
};

void Shown::finish(const control::ReplaySummary& summary) {
  if (job_ && !concerned_) warn(fmt::format("no turn that was kept concerns job {}", *job_));
  if (json_) {
    Json json;
    json["turns"] = summary.turns;
    json["starts"] = summary.starts;
    json["first"] = summary.first;
    json["last"] = summary.last;
    json["different"] = summary.different;
    json["closed"] = summary.closed;
    json["shown"] = turns_;
    return print_json(console_, json);
  }
  for (const std::string& text : texts_) console_.out.write(text);
  console_.out.write(
      fmt::format("{} turns of {} replayed: {}\n", summary.turns,
                  summary.starts == 1 ? "one start" : fmt::format("{} starts", summary.starts),
                  summary.different == 0
                      ? "each gave what it gave then"
                      : fmt::format("{} gave something else{}", summary.different,
                                    versions_other_ ? "; another version recorded them" : "")));
  if (summary.closed)
    console_.out.write("what happened later was not kept: the journal was full\n");
}

}  // namespace

Outcome run_replay(const Values& values, Console& console) {
  const std::string folder = values.is_set("state") ? values.text("state") : default_state();
  std::error_code unreadable;  // a folder we may not look into has none for us
  if (!std::filesystem::exists(store::store_file(folder), unreadable)) {
    return Error{fmt::format("there is no store in {}{}; --state names the daemon's folder", folder,
                             unreadable ? ", or it may not be read" : "")};
  }
  const auto store = store::open_store(folder, {});
  if (!store) return store.error();
  Shown shown(values, console);
  store::MemoryStore scratch;
  const auto summary = control::replay(**store, scratch, daemon::make_policies,
                                       [&](const ReplayedTurn& turn) { shown.see(turn); });
  if (!summary) return summary.error();
  shown.finish(*summary);
  return summary->different == 0 ? 0 : 1;
}

}  // namespace partita::cli
