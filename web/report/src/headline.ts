// The headline table: every policy of a setting, best ET first, and a sentence that says it.

import type { Cell, Gap, Interval, Policy, Setting } from "./contract";
import { legendRow, frame } from "./chart";
import { make, makeSvg } from "./dom";
import { compact, csvText, fixed, megaWattMinutes, minutes, percent, percentSize, withInterval } from "./format";

export function byEt(policies: Policy[]): Policy[] {
  return [...policies].sort((a, b) => a.et.mean - b.et.mean);
}

export type Verdict = "better" | "worse" | "undecided" | "reference" | "other";

export function verdictKind(policy: Policy, reference: string): Verdict {
  if (policy.name === reference) return "reference";
  const text = policy.diff?.verdict.toLowerCase() ?? "";
  if (/undecided|not decided|unclear|no difference|tie/.test(text)) return "undecided";
  if (/better|lower|less/.test(text)) return "better";
  if (/worse|higher|more/.test(text)) return "worse";
  return "other";
}

const kVerdictMark: Record<Verdict, string> = {
  better: "▼",
  worse: "▲",
  undecided: "≈",
  reference: "●",
  other: "",
};

// The range of the little interval pictures: all intervals and zero, cut where one policy is so bad
// that the others would be indistinguishable.
export function differenceRange(policies: Policy[]): [number, number] {
  const ends = policies.flatMap(({ diff }) =>
    diff?.et_percent
      ? [diff.et_percent.low ?? diff.et_percent.mean, diff.et_percent.high ?? diff.et_percent.mean]
      : [],
  );
  const low = Math.max(-100, Math.min(0, ...ends));
  const high = Math.min(Math.max(0, ...ends), Math.max(50, -2 * low));
  return [low, Math.max(high, -0.15 * low, 1)];
}

const kForestWidth = 96;
const kForestHeight = 22;

function forestPicture(
  interval: Interval,
  [low, high]: [number, number],
  kind: Verdict,
): SVGSVGElement {
  const inner = kForestWidth - 12;
  const x = (value: number) =>
    6 + (inner * (Math.min(Math.max(value, low), high) - low)) / (high - low);
  const y = kForestHeight / 2;
  const svg = makeSvg("svg", {
    class: `forest ${kind}`,
    width: kForestWidth,
    height: kForestHeight,
    "aria-hidden": "true",
  });
  svg.append(makeSvg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: kForestHeight }));
  if (interval.low !== null && interval.high !== null) {
    svg.append(
      makeSvg("line", {
        class: "whisker",
        x1: x(interval.low),
        x2: x(interval.high),
        y1: y,
        y2: y,
      }),
    );
  }
  if (interval.mean > high) {
    svg.append(makeSvg("path", { class: "mean", d: `M${x(high) - 3} ${y - 5}l8 5l-8 5z` }));
  } else {
    svg.append(makeSvg("circle", { class: "mean", cx: x(interval.mean), cy: y, r: 4 }));
  }
  return svg;
}

function etBar(policy: Policy, most: number, bound: number | null): HTMLElement {
  const cut = policy.et_energy_part + policy.et_tardiness_part > 1.001 * most;
  const bar = make("span", { class: cut ? "et-bar cut" : "et-bar", "aria-hidden": "true" });
  for (const [part, value] of [
    ["energy", policy.et_energy_part],
    ["tardiness", policy.et_tardiness_part],
  ] as const) {
    const piece = make("span", { class: part });
    // Past the end of the scale the bar is cut: one hopeless policy must not hide the others.
    piece.style.width = `${(100 * Math.min(value, most)) / most}%`;
    bar.append(piece);
  }
  if (bound !== null) {
    const mark = make("span", { class: "bound" });
    mark.style.left = `${(100 * Math.min(bound, most)) / most}%`;
    bar.append(mark);
  }
  return bar;
}

// "bound +23.0 %": how far above what no schedule can beat.
function gapLine(policy: Policy, key: keyof Gap): HTMLElement | null {
  const gap = policy.gap?.[key] ?? null;
  if (gap === null) return null;
  const line = make("span", { class: "interval gap" }, `bound\u00a0${percent(gap.mean)}`);
  if (gap.low !== null && gap.high !== null) {
    line.title = `95 % interval: ${percentSize(gap.low)} to ${percentSize(gap.high)} above the bound`;
  }
  return line;
}

function intervalLine(interval: Interval, show: (value: number) => string): HTMLElement | null {
  if (interval.low === null || interval.high === null) return null;
  return make("span", { class: "interval" }, `${show(interval.low)} to ${show(interval.high)}`);
}

function cell(label: string, kind: string, ...children: (Node | string | null)[]): HTMLElement {
  return make("td", { "data-label": label, class: kind }, make("div", {}, ...children));
}

function differenceCells(policy: Policy, setting: Setting, range: [number, number]): HTMLElement[] {
  const cells = differenceAndVerdict(policy, setting, range);
  // One day decides nothing, and one policy has nothing to be compared with.
  const compared = setting.policies.length > 1 ? 0 : 1;
  return cells.slice(compared, policy.days === 1 ? 1 : 2);
}

function differenceAndVerdict(
  policy: Policy,
  setting: Setting,
  range: [number, number],
): HTMLElement[] {
  const kind = verdictKind(policy, setting.reference);
  const word = kind === "reference" ? "reference" : (policy.diff?.verdict ?? "");
  const verdict = cell(
    "Verdict",
    `verdict ${kind}`,
    make("span", { class: "mark", "aria-hidden": "true" }, kVerdictMark[kind]),
    word,
  );
  const p = decidingP(policy);
  if (p !== null && kind !== "reference") {
    const value = p.value < 0.001 ? "< 0.001" : `= ${compact(p.value)}`;
    verdict.firstElementChild?.append(
      make("span", { class: "interval" }, `p ${value} (${p.name})`),
    );
  }
  const wanted = daysWanted(policy, kind);
  if (wanted !== null) {
    verdict.firstElementChild?.append(make("span", { class: "interval" }, wanted));
  }
  const et = policy.diff?.et_percent ?? null;
  if (et === null || kind === "reference") {
    const word = kind === "reference" && policy.days === 1 ? "reference" : "–";
    return [cell("ET to reference", "number", word), verdict];
  }
  const text = make(
    "span",
    { class: "with-interval" },
    make("strong", {}, percent(et.mean)),
    intervalLine(et, percent),
    dayLine(policy),
  );
  return [
    cell("ET to reference", "number difference", forestPicture(et, range, kind), text),
    verdict,
  ];
}

// Of the test that decides, where the data says so; older files have others.
function decidingP({ diff }: Policy): { value: number; name: string } | null {
  if (diff === null) return null;
  if (diff.p_adjusted !== null) return { value: diff.p_adjusted, name: "all policies" };
  if (diff.p_holm !== null) return { value: diff.p_holm, name: "Holm" };
  return diff.p_wilcoxon === null ? null : { value: diff.p_wilcoxon, name: "Wilcoxon" };
}

// "days −12.1 %": every day alike, where a sum may be one expensive day.
function dayLine(policy: Policy): HTMLElement | null {
  const days = policy.diff?.et_day_percent ?? null;
  if (days === null || policy.days === 1) return null;
  const line = make("span", { class: "interval" }, `days\u00a0${percent(days.mean)}`);
  const range =
    days.least === null || days.most === null
      ? ""
      : `; single days from ${percent(days.least)} to ${percent(days.most)}`;
  line.title = `Geometric mean of the days' own ratios: ${withInterval(days, percent)}${range}`;
  return line;
}

// How many days would decide it, where that is more than there are and not hopeless.
function daysWanted(policy: Policy, kind: Verdict): string | null {
  const days = policy.diff?.days_until_decided ?? null;
  if (kind !== "undecided" || days === null) return null;
  if (days <= policy.days) return null;
  return days < 100_000 ? `needs ~${days.toLocaleString("en")} days` : "no difference";
}

function partsText(policy: Policy): string {
  return `${fixed(policy.et_energy_part, 2)} + ${fixed(policy.et_tardiness_part, 2)}`;
}

const kRuleLettersMax = 48;

// An hourly timetable is a thousand letters long: it unfolds.
function ruleText(policy: Policy): HTMLElement {
  const text = `${policy.scheduler} · ${policy.repartition}`;
  if (text.length <= kRuleLettersMax) return make("span", { class: "interval" }, text);
  return make(
    "details",
    { class: "interval rule" },
    make("summary", {}, `${text.slice(0, kRuleLettersMax - 8)}…`),
    policy.repartition,
  );
}

function extraCell(name: string, value: Cell | undefined): HTMLElement {
  const text = typeof value === "number" ? compact(value) : (value ?? "–");
  return cell(name, typeof value === "number" ? "number" : "", text);
}

// Columns that the experiment adds, in the order in which they first occur.
function extraColumns(policies: Policy[]): string[] {
  return [...new Set(policies.flatMap((policy) => Object.keys(policy.extra)))];
}

function policyRow(
  policy: Policy,
  setting: Setting,
  most: number,
  range: [number, number],
  extra: string[],
): HTMLElement {
  const name = make(
    "th",
    { scope: "row" },
    make("span", { class: "policy-name" }, policy.name),
    ruleText(policy),
  );
  const two = (value: number) => fixed(value, 2);
  const et = make(
    "span",
    { class: "with-interval" },
    make("strong", {}, two(policy.et.mean)),
    intervalLine(policy.et, two),
  );
  const parts = make(
    "span",
    { class: "parts" },
    etBar(policy, most, setting.bounds?.et.mean ?? null),
    make("span", { class: "interval" }, partsText(policy)),
    gapLine(policy, "et_percent"),
  );
  return make(
    "tr",
    { class: policy.name === setting.reference ? "reference" : "" },
    name,
    cell("ET", "number", et),
    cell("Energy + tardiness part", "bar", parts),
    cell(
      "Energy, M W·min",
      "number",
      make(
        "span",
        { class: "with-interval" },
        megaWattMinutes(policy.energy_w_min.mean),
        intervalLine(policy.energy_w_min, megaWattMinutes),
        policy.energy_kwh === null
          ? null
          : make("span", { class: "interval" }, `${compact(policy.energy_kwh)} kWh`),
        gapLine(policy, "energy_percent"),
      ),
    ),
    cell(
      "Mean tardiness, min",
      "number",
      make(
        "span",
        { class: "with-interval" },
        minutes(policy.mean_tardiness_s.mean),
        intervalLine(policy.mean_tardiness_s, minutes),
        gapLine(policy, "tardiness_percent"),
      ),
    ),
    cell(
      "Late",
      "number",
      policy.late_share === null ? "–" : `${fixed(100 * policy.late_share, 1)}\u00a0%`,
    ),
    ...differenceCells(policy, setting, range),
    ...extra.map((column) => extraCell(column, policy.extra[column])),
  );
}

// The longest bar that is drawn whole: a few times what the better quarter needs.
function barScale(policies: Policy[]): number {
  const totals = policies
    .map((policy) => policy.et_energy_part + policy.et_tardiness_part)
    .sort((a, b) => a - b);
  const good = totals[Math.floor(totals.length / 4)] ?? 1;
  return Math.max(Math.min(totals.at(-1) ?? 1, 3 * good), 1e-12);
}

const kAgainst = "ET against the reference";
const kColumns = [
  "Policy",
  "ET",
  "its two parts",
  "Energy, M W·min",
  "Mean tardiness, min",
  "Late",
  kAgainst,
  "Verdict",
];

const kGapColumns = ["et_gap_percent", "energy_gap_percent", "tardiness_gap_percent"];

export function headlineCsv(setting: Setting): string {
  const three = (interval: Interval | null | undefined) => [
    interval?.mean ?? null,
    interval?.low ?? null,
    interval?.high ?? null,
  ];
  const columnsOf = (stem: string) => [stem, `${stem}_low`, `${stem}_high`];
  const header = [
    "setting",
    "policy",
    "scheduler",
    "repartition",
    "days",
    ...columnsOf("et"),
    "et_energy_part",
    "et_tardiness_part",
    ...columnsOf("energy_w_min"),
    "energy_kwh",
    ...columnsOf("mean_tardiness_s"),
    "late_share",
    ...columnsOf("et_percent"),
    ...columnsOf("energy_percent"),
    ...columnsOf("tardiness_percent"),
    ...columnsOf("et_day_percent"),
    "p_adjusted",
    "p_wilcoxon",
    "p_holm",
    "verdict",
    ...(setting.bounds === null ? [] : kGapColumns.flatMap(columnsOf)),
    ...extraColumns(setting.policies),
  ];
  return csvText(
    header,
    byEt(setting.policies).map((policy) => [
      setting.name,
      policy.name,
      policy.scheduler,
      policy.repartition,
      policy.days,
      ...three(policy.et),
      policy.et_energy_part,
      policy.et_tardiness_part,
      ...three(policy.energy_w_min),
      policy.energy_kwh,
      ...three(policy.mean_tardiness_s),
      policy.late_share,
      ...three(policy.diff?.et_percent),
      ...three(policy.diff?.energy_percent),
      ...three(policy.diff?.tardiness_percent),
      ...three(policy.diff?.et_day_percent),
      policy.diff?.p_adjusted ?? null,
      policy.diff?.p_wilcoxon ?? null,
      policy.diff?.p_holm ?? null,
      policy.diff?.verdict ?? "",
      ...(setting.bounds === null
        ? []
        : [
            ...three(policy.gap?.et_percent),
            ...three(policy.gap?.energy_percent),
            ...three(policy.gap?.tardiness_percent),
          ]),
      ...extraColumns(setting.policies).map((column) => policy.extra[column] ?? null),
    ]),
  );
}

// "lookahead has the lowest ET, 1.02: 27.3 % below cedf/static (24.1 % to 30.2 %)."
export function summary(setting: Setting): string {
  const best = byEt(setting.policies)[0];
  if (best === undefined) return "No policies in this setting.";
  if (setting.policies.length === 1) {
    const kwh = (best.energy_w_min.mean * 60) / 3.6e6;
    return `${best.name}: ${compact(kwh)} kWh, mean tardiness ${minutes(best.mean_tardiness_s.mean)} min, ET ${fixed(best.et.mean, 2)}.`;
  }
  const first = `${best.name} has the lowest ET, ${fixed(best.et.mean, 2)}`;
  if (best.name === setting.reference) return `${first}; it is the reference.`;
  const et = best.diff?.et_percent;
  if (!et) return `${first}.`;
  const side = et.mean <= 0 ? "below" : "above";
  const size = (value: number) => `${fixed(Math.abs(value), 1)}\u00a0%`;
  if (et.low === null || et.high === null) {
    return `${first}: ${size(et.mean)} ${side} ${setting.reference}.${tooFewText(setting, best)}`;
  }
  if (et.low <= 0 && et.high >= 0) {
    return `${first}; the difference to ${setting.reference} is not decided (${percent(
      et.low,
    )} to ${percent(et.high)}).`;
  }
  const [near, far] = [et.low, et.high].map(Math.abs).sort((a, b) => a - b);
  const said = `${first}: ${size(et.mean)} ${side} ${setting.reference} (95 % interval ${size(
    near,
  )} to ${size(far)}).`;
  return verdictKind(best, setting.reference) === "undecided"
    ? `${said} ${undecidedText(setting, best)}`
    : said;
}

// " 5 days are too few to decide among 9 policies: at least 9 days are needed."
function tooFewText(setting: Setting, best: Policy): string {
  if (setting.days_min === null || best.days === 1 || best.days >= setting.days_min) return "";
  return (
    ` ${best.days} days are too few to decide among ${setting.policies.length} policies: ` +
    `at least ${setting.days_min} days are needed.`
  );
}

// Intervals of data from elsewhere may look at one policy while the verdict allows for all.
function undecidedText(setting: Setting, best: Policy): string {
  const days = best.diff?.days_until_decided ?? null;
  const hope = days !== null && days > best.days ? `; some ${days} days would decide it` : "";
  return (
    `Allowing for ${setting.policies.length - 1} comparisons, ${best.days} days do not decide ` +
    `this${hope}.`
  );
}

// "No schedule has an ET below 0.78: of lookahead's 1.30 at most 40 % can still be won."
export function boundText(setting: Setting): string {
  const best = byEt(setting.policies)[0];
  if (setting.bounds === null || best === undefined) return "";
  const bound = setting.bounds.et.mean;
  const left = Math.max(0, 100 * (1 - bound / best.et.mean));
  return (
    `No schedule, even one that knew all jobs beforehand, has an ET below ${fixed(bound, 2)} ` +
    `(${megaWattMinutes(setting.bounds.energy_w_min.mean)} M W·min, ` +
    `${minutes(setting.bounds.mean_tardiness_s.mean)} min of tardiness): ` +
    `at most ${fixed(left, 0)}\u00a0% of ${best.name}'s ET can still be won.`
  );
}

// "−1.3 kWh a day": what the percentages mean in this fleet.
function saved(change: number, digits: number, unit: string): string {
  return `${change > 0 ? "+" : ""}${fixed(change, digits)} ${unit}`;
}

function tile(
  label: string,
  interval: Interval | null | undefined,
  absolute = "",
): HTMLElement | null {
  if (!interval) return null;
  const kind =
    interval.low === null || interval.high === null || interval.low * interval.high <= 0
      ? "open"
      : interval.mean < 0
        ? "good"
        : "bad";
  return make(
    "div",
    { class: `tile ${kind}` },
    make("span", { class: "tile-label" }, label),
    make("span", { class: "tile-value" }, percent(interval.mean)),
    interval.low === null
      ? null
      : make(
          "span",
          { class: "interval" },
          withInterval(interval, percent).replace(/^[^(]*\((.*)\)$/, "$1"),
        ),
    absolute ? make("span", { class: "interval" }, absolute) : null,
  );
}

function tiles(setting: Setting): HTMLElement {
  const best = byEt(setting.policies)[0];
  const diff = best?.name === setting.reference ? null : (best?.diff ?? null);
  const reference = setting.policies.find(({ name }) => name === setting.reference);
  if (!best || !reference || !diff) return make("div", {});
  const kwh = ((best.energy_w_min.mean - reference.energy_w_min.mean) * 60) / 3.6e6;
  const late_min = (best.mean_tardiness_s.mean - reference.mean_tardiness_s.mean) / 60;
  const unit = best.days > 1 ? "kWh a day" : "kWh";
  return make(
    "div",
    { class: "tiles" },
    tile("ET", diff.et_percent),
    tile("Energy", diff.energy_percent, saved(kwh, 2, unit)),
    tile("Mean tardiness", diff.tardiness_percent, saved(late_min, 2, "min a job")),
  );
}

export function headline(setting: Setting): HTMLElement {
  const policies = byEt(setting.policies);
  const most = barScale(policies);
  const range = differenceRange(policies);
  const extra = extraColumns(policies);
  const days = Math.max(0, ...policies.map((policy) => policy.days));
  const alone = policies.length === 1;
  const columns = [
    ...kColumns.filter((name) => days > 1 || name !== "Verdict"),
    ...extra,
  ].filter((name) => !alone || name !== kAgainst);
  const head = make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)));
  const table = make(
    "table",
    { class: "headline" },
    make("thead", {}, head),
    make("tbody", {}, ...policies.map((policy) => policyRow(policy, setting, most, range, extra))),
  );
  const description =
    (days === 1
      ? "One run of each policy on the same jobs: no intervals. "
      : `Means over ${days} days, the same for every policy; small figures are 95 % intervals. `) +
    "ET = a · energy (W·min) + mean tardiness (min); " +
    "lower is better. " +
    (setting.bounds === null ? "" : "Bound +x %: so far above what no schedule can beat. ") +
    (setting.reference && !alone ? `Reference: ${setting.reference}.` : "");
  const legend = legendRow([
    { label: "energy part of ET", colour: "var(--energy)", shape: "box" },
    { label: "tardiness part of ET", colour: "var(--tardiness)", shape: "box" },
    ...(setting.bounds === null
      ? []
      : [{ label: "lower bound of ET", colour: "var(--ink)", shape: "line" as const }]),
  ]);
  const bound = boundText(setting);
  return make(
    "div",
    {},
    make("p", { class: "summary" }, summary(setting)),
    bound === "" ? null : make("p", { class: "bound-text" }, bound),
    tiles(setting),
    frame(
      "headline",
      "Policies, best first",
      description,
      () => headlineCsv(setting),
      legend,
      make("div", { class: "table-wrap" }, table),
    ),
  );
}
