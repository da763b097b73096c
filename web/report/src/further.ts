// What the headline leaves out of a setting: the tail of the tardiness, use of the slices, changes.

import { frame } from "./chart";
import type { Policy, Setting } from "./contract";
import { make } from "./dom";
import { compact, csvText, duration, fixed } from "./format";
import { byEt } from "./headline";

interface Column {
  key: string;
  head: string;
  show: (value: number) => string;
}

const share = (value: number): string => `${fixed(100 * value, 1)} %`;
const count = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : compact(value);

const kColumns: Column[] = [
  { key: "p50_tardiness_s", head: "Median tardiness", show: duration },
  { key: "p95_tardiness_s", head: "95 % below", show: duration },
  { key: "p99_tardiness_s", head: "99 % below", show: duration },
  { key: "max_tardiness_s", head: "Largest", show: duration },
  { key: "mean_wait_s", head: "Mean wait", show: duration },
  { key: "compute_utilisation", head: "Compute in use", show: share },
  { key: "memory_utilisation", head: "Memory in use", show: share },
  { key: "preemptions", head: "Preemptions", show: count },
  { key: "repartitions", head: "Layout changes", show: count },
  { key: "instances_created", head: "Instances made", show: count },
];

function row(policy: Policy, columns: Column[]): HTMLElement {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("span", { class: "policy-name" }, policy.name)),
    ...columns.map(({ key, head, show }) =>
      make(
        "td",
        { class: "number", "data-label": head },
        make("div", {}, key in policy.means ? show(policy.means[key]) : "–"),
      ),
    ),
  );
}

// On a phone each row takes as many lines as there are columns.
const kSmall = "(max-width: 1000px)";

export function furtherMeans(setting: Setting): HTMLElement | null {
  const policies = byEt(setting.policies);
  const columns = kColumns.filter(({ key }) => policies.some((policy) => key in policy.means));
  if (columns.length === 0) return null;
  const heads = ["Policy", ...columns.map(({ head }) => head)];
  const table = make(
    "table",
    { class: "plain further" },
    make("thead", {}, make("tr", {}, ...heads.map((name, i) => make("th", { scope: "col", class: i > 0 ? "number" : "" }, name)))),
    make("tbody", {}, ...policies.map((policy) => row(policy, columns))),
  );
  const csv = () =>
    csvText(
      ["setting", "policy", ...columns.map(({ key }) => key)],
      policies.map((policy) => [
        setting.name,
        policy.name,
        ...columns.map(({ key }) => policy.means[key] ?? null),
      ]),
    );
  return frame(
    "further",
    "Beyond the mean",
    "The tail of the tardiness, how long jobs wait for their first slice, how much of the GPUs is " +
      "busy, and how often jobs and layouts change. Means over the days.",
    csv,
    make(
      "details",
      { class: "fold", open: !matchMedia(kSmall).matches },
      make("summary", {}, `${columns.length} figures of ${policies.length === 1 ? "the policy" : `${policies.length} policies`}`),
      make("div", { class: "table-wrap" }, table),
    ),
  );
}
