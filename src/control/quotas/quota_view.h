// QuotaView: what is shown of quotas to whoever asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "control/quotas/quotas.h"

namespace partita::control {

struct QuotaUseView {
  std::string amount;
  double used = 0;
  double most = 0;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "amount", .doc = "As the file of quotas names it"}, self.amount);
    visit_named(visit, "used", self.used, "most", self.most);
  }
};

struct QuotaHolderView {
  std::string_view holder;
  std::string name;  // for whoever shows it to fill in where it is empty
  std::uint32_t id = 0;
  std::vector<QuotaUseView> amounts;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "holder", .doc = "user or group"}, self.holder);
    visit_named(visit, "name", self.name);
    visit(Field{.name = "id", .doc = "The user's or group's number"}, self.id);
    visit_named(visit, "amounts", self.amounts);
  }
};

struct QuotaView {
  bool any = false;
  std::string_view period;
  Micros since;
  Micros until;
  std::vector<QuotaHolderView> holders;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "any", .doc = "Whether the daemon has quotas"}, self.any);
    visit(Field{.name = "period", .doc = "Of gpu-hours and joules: day, week or month"},
          self.period);
    visit_named(visit, "since_s", self.since, "until_s", self.until, "holders", self.holders);
  }
};

QuotaView view_of(const Quotas& quotas, const std::vector<QuotaLine>& lines);

}  // namespace partita::control
