// The small languages of flag values: deadline laws, preemption, lists of numbers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "decide/queue_rules.h"
#include "decide/view.h"
#include "experiment/policy_run.h"
#include "sim/run.h"

namespace partita::cli {

// "1.0:1.5". Finite numbers, the first not above the second.
struct Span {
  double low = 0;
  double high = 0;
};
Result<Span> parse_span(std::string_view text);

// SCHEDULER/REPARTITIONER. The path of a learned scheduler may have slashes too: the first part
// that is a scheduler counts.
Result<experiment::Policy> parse_policy(std::string_view word);

// "free", "none", "cost=SECONDS", "pays=SECONDS".
Result<decide::Preemption> parse_preemption(std::string_view text);
std::string format_preemption(const decide::Preemption& preemption);

// Seconds, or off.
Result<std::optional<Micros>> parse_reserve_after(std::string_view text);
std::string format_reserve_after(const std::optional<Micros>& after);

std::vector<std::string> fair_share_names();
Result<decide::FairOrder> parse_fair_share(std::string_view text);
std::string format_fair_share(decide::FairOrder order);

// "alice=2,bob=0.5".
Result<std::vector<std::pair<std::string, double>>> parse_shares(std::string_view text);

// "off", "on", or "on" with some of the rule's figures: "z=2.33,window=20".
Result<std::optional<decide::EarlyRestart>> parse_early_restart(std::string_view text);
std::string format_early_restart(const std::optional<decide::EarlyRestart>& rule);

// "paper", "measured".
Result<sim::RepartitionCost> parse_repartition_cost(std::string_view text);

// Exactly `count` numbers from 0 to `high`, separated by commas.
Result<std::vector<double>> parse_numbers(std::string_view text, std::size_t count, double high);

// "256,256,128": widths of layers, each from 1 to 4096, at most eight.
Result<std::vector<int>> parse_widths(std::string_view text);

// Names of schedulers separated by commas, each known and given once; or "all".
Result<std::vector<std::string>> parse_schedulers(std::string_view text);

// "5%" or "0.05": a share from 0 to 1.
Result<double> parse_share(std::string_view text);

}  // namespace partita::cli
