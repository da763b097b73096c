#include "control/quotas/quota_view.h"

namespace partita::control {

QuotaView view_of(const Quotas& quotas, const std::vector<QuotaLine>& lines) {
  QuotaView view{.any = quotas.any(),
                 .period = name_of(quotas.clock().period),
                 .since = quotas.clock().start,
                 .until = quotas.clock().end(),
                 .holders = {}};
  for (const QuotaLine& line : lines) {
    QuotaHolderView& holder = view.holders.emplace_back();
    holder.holder = name_of(line.kind);
    holder.name = line.name;
    holder.id = line.id;
    for (const QuotaUse& use : line.uses)
      holder.amounts.push_back({use.amount, use.used, use.most});
  }
  return view;
}

}  // namespace partita::control
