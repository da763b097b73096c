// Energy against tardiness: every policy with its intervals, and the front as the weight a varies.

import * as Plot from "@observablehq/plot";
import { chart, type Chart, type Drawing, type LegendEntry } from "./chart";
import type { ParetoPoint, Policy, Setting, WeightRange } from "./contract";
import { make, makeSvg } from "./dom";
import { compact, csvText, fixed, megaWattMinutes, minutes, withInterval, plain } from "./format";
import type { Inspected } from "./inspect";
import { category, symbolOf } from "./palette";
import {
  basePlot,
  type Box,
  kNarrow,
  type Label,
  padded,
  pixels,
  placeLabels,
  type Spot,
  spotMarks,
  wantsLog,
} from "./plotting";
import { paretoFront } from "./series";

const kMegaWattMinutes = 1e6;
const kTardinessLabel = "mean tardiness, minutes →";
const kEnergyLabel = "↑ energy, million W·min";

function scaled(value: number | null, by: number): number | null {
  return value === null ? null : value / by;
}

function spotOf(policy: Policy): Spot {
  const { mean_tardiness_s: tardiness, energy_w_min: energy } = policy;
  return {
    name: policy.name,
    colour: category(policy.index),
    symbol: symbolOf(policy.index),
    x: tardiness.mean / 60,
    xLow: scaled(tardiness.low, 60),
    xHigh: scaled(tardiness.high, 60),
    y: energy.mean / kMegaWattMinutes,
    yLow: scaled(energy.low, kMegaWattMinutes),
    yHigh: scaled(energy.high, kMegaWattMinutes),
  };
}

// The weight a is not in the contract: the energy part is a times the energy.
export function weightOf(policies: Policy[]): number | null {
  const policy = policies.find(({ energy_w_min }) => energy_w_min.mean > 0);
  const a = policy ? policy.et_energy_part / policy.energy_w_min.mean : 0;
  return a > 0 ? a : null;
}

const kEtLineSteps = 200;

interface EtLine {
  et: number;
  points: { x: number; y: number }[];
}

// Curves of equal ET through the drawing, from the best policy's upward.
export function etLines(
  a: number,
  ets: number[],
  [low, high]: [number, number],
  [bottom, top]: [number, number],
): EtLine[] {
  const perUnit = a * kMegaWattMinutes;
  return ets
    .map((et) => {
      const points = [];
      for (let i = 0; i <= kEtLineSteps; ++i) {
        const y = top + ((bottom - top) * i) / kEtLineSteps;
        const x = et - perUnit * y;
        if (x >= low && x <= high) points.push({ x, y });
      }
      return { et, points };
    })
    .filter(({ points }) => points.length > 1);
}

const kEtLabelWidth = 46;

// Leaves out curves whose names would overlap.
function spacedLines(
  lines: EtLine[],
  [low, high]: [number, number],
  log: boolean,
  width: number,
): EtLine[] {
  const share = (x: number) =>
    log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
  let last = -Infinity;
  return lines.filter(({ points }) => {
    const at = share(points[0].x) * (width - 75);
    if (at - last < kEtLabelWidth) return false;
    last = at;
    return true;
  });
}

// Round values of ET around what the policies reach.
export function etSteps(ets: number[]): number[] {
  const [low, high] = [Math.min(...ets) * 0.7, Math.max(...ets) * 1.2];
  const rounds =
    high / low > 4 ? [1, 1.5, 2, 3, 5, 7] : [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 7, 8];
  const steps = [-3, -2, -1, 0, 1, 2, 3].flatMap((power) => rounds.map((n) => n * 10 ** power));
  return steps.filter((step) => step >= low && step <= high);
}

function etLineMarks(lines: EtLine[]): Plot.Markish[] {
  return lines.flatMap((line) => [
    Plot.line(line.points, { x: "x", y: "y", stroke: "var(--rule-2)", strokeDasharray: "2 4" }),
    Plot.text([line.points[0]], {
      x: "x",
      y: "y",
      text: () => `ET ${line.et}`,
      textAnchor: "start",
      dx: 4,
      dy: 8,
      fill: "var(--ink-3)",
      fontSize: 10.5,
    }),
  ]);
}

function dayMarks(policies: Policy[]): Plot.Markish[] {
  return policies.map((policy) =>
    Plot.dot(policy.points, {
      x: (point: Policy["points"][number]) => point.mean_tardiness_s / 60,
      y: (point: Policy["points"][number]) => point.energy_w_min / kMegaWattMinutes,
      r: 1.8,
      fill: category(policy.index),
      fillOpacity: 0.28,
      clip: true,
    }),
  );
}

function spotText(policy: Policy): string {
  return (
    `${policy.name}: energy ${withInterval(policy.energy_w_min, megaWattMinutes)} M W·min, ` +
    `mean tardiness ${withInterval(policy.mean_tardiness_s, minutes)} min, ` +
    `ET ${withInterval(policy.et, (value) => fixed(value, 2))}`
  );
}

function inspectedSpots(policies: Policy[], spots: Spot[], plot: Plot.Plot): Inspected[] {
  const at = pixels(plot);
  const points = policies.map((policy, i) => ({
    x: at.x(spots[i].x),
    y: at.y(spots[i].y),
    text: spotText(policy),
  }));
  // One series from left to right: the arrow keys then walk through the policies.
  return [{ colour: "var(--ink)", points: points.sort((a, b) => a.x - b.x) }];
}

function whiskerBoxes(spot: Spot, at: ReturnType<typeof pixels>): Box[] {
  const [x, y] = [at.x(spot.x), at.y(spot.y)];
  return [
    {
      left: at.x(spot.xLow ?? spot.x),
      right: at.x(spot.xHigh ?? spot.x),
      top: y - 1,
      bottom: y + 1,
    },
    {
      left: x - 1,
      right: x + 1,
      top: at.y(spot.yHigh ?? spot.y),
      bottom: at.y(spot.yLow ?? spot.y),
    },
  ];
}

function appendLabels(
  svg: SVGSVGElement,
  spots: Spot[],
  plot: Plot.Plot,
  width: number,
  height: number,
): void {
  const at = pixels(plot);
  const wanted = spots.map((spot) => ({ text: spot.name, x: at.x(spot.x), y: at.y(spot.y) }));
  const obstacles = spots.flatMap((spot) => whiskerBoxes(spot, at));
  appendTexts(svg, placeLabels(wanted, obstacles, width, height - 40));
}

function appendTexts(svg: SVGSVGElement, labels: Label[]): void {
  for (const label of labels) {
    svg.append(
      makeSvg(
        "text",
        {
          class: "direct-label",
          x: label.x,
          y: label.y + 4,
          "text-anchor": label.anchor,
        },
        label.text,
      ),
    );
  }
}

function drawScatter(setting: Setting, log: boolean, width: number, height: number): Drawing {
  const policies = setting.policies;
  // An interval that reaches to zero or below would need a logarithmic axis without end.
  const means = policies.map((policy) => policy.mean_tardiness_s.mean / 60);
  const least = log ? Math.min(...means) / 2 : -Infinity;
  const spots = policies
    .map(spotOf)
    .map((spot) => ({ ...spot, xLow: spot.xLow === null ? null : Math.max(spot.xLow, least) }));
  const xs = spots.flatMap((spot) => [spot.x, spot.xLow ?? spot.x, spot.xHigh ?? spot.x]);
  const ys = spots.flatMap((spot) => [spot.y, spot.yLow ?? spot.y, spot.yHigh ?? spot.y]);
  const xDomain = padded(xs, log);
  const yDomain = padded(ys, false);
  const a = weightOf(policies);
  const lines =
    a === null
      ? []
      : spacedLines(
          etLines(a, etSteps(policies.map((policy) => policy.et.mean)), xDomain, yDomain),
          xDomain,
          log,
          width,
        );
  const plot = basePlot(width, height, `Scatter of ${policies.length} policies`, {
    x: {
      type: log ? "log" : "linear",
      domain: xDomain,
      label: kTardinessLabel,
      grid: true,
      ticks: width < kNarrow ? 4 : 8,
      tickFormat: plain,
    },
    y: { domain: yDomain, label: kEnergyLabel, grid: true, ticks: 6 },
    marks: [...etLineMarks(lines), ...dayMarks(policies), ...spotMarks(spots)],
  });
  if (width >= kNarrow) appendLabels(plot, spots, plot, width, height);
  return { svg: plot, inspected: inspectedSpots(policies, spots, plot) };
}

function scatterCsv(setting: Setting): string {
  const header = ["setting", "policy", "seed", "energy_w_min", "mean_tardiness_s", "et"];
  const rows = setting.policies.flatMap((policy) => [
    [
      setting.name,
      policy.name,
      "mean",
      policy.energy_w_min.mean,
      policy.mean_tardiness_s.mean,
      policy.et.mean,
    ],
    ...(["low", "high"] as const).map((end) => [
      setting.name,
      policy.name,
      end,
      policy.energy_w_min[end],
      policy.mean_tardiness_s[end],
      policy.et[end],
    ]),
    ...policy.points.map((point) => [
      setting.name,
      policy.name,
      point.seed,
      point.energy_w_min,
      point.mean_tardiness_s,
      point.et,
    ]),
  ]);
  return csvText(header, rows);
}

function policyLegend(policies: Policy[]): LegendEntry[] {
  return policies.map((policy) => ({
    label: policy.name,
    colour: category(policy.index),
    shape: "dot" as const,
    symbol: symbolOf(policy.index),
  }));
}

function logSwitch(initial: boolean, onChange: (log: boolean) => void): HTMLElement {
  const box = make("input", { type: "checkbox", checked: initial });
  box.addEventListener("change", () => onChange(box.checked));
  return make("label", {}, box, " logarithmic tardiness");
}

export function scatterChart(setting: Setting): Chart {
  const means = setting.policies.map((policy) => policy.mean_tardiness_s.mean);
  const logPossible = means.every((value) => value > 0);
  let log = wantsLog(means);
  const result: Chart = chart({
    id: "scatter",
    title: "Energy against tardiness",
    description:
      (setting.policies.every((policy) => policy.days === 1)
        ? "Each mark is one policy on this day. "
        : "Large marks are means with 95 % intervals in both directions, small dots single " +
          "days. ") +
      "Dashed curves join points of equal ET. Towards the lower left is better.",
    height: 420,
    legend: policyLegend(setting.policies),
    controls: logPossible
      ? [
          logSwitch(log, (now) => {
            log = now;
            result.redraw();
          }),
        ]
      : [],
    draw: (width, height) => drawScatter(setting, log, width, height),
    csv: () => scatterCsv(setting),
  });
  return result;
}

interface Trail {
  policy: string;
  index: number;
  points: ParetoPoint[];
}

function trails(points: ParetoPoint[], policies: Policy[]): Trail[] {
  const known = new Map(policies.map(({ name, index }) => [name, index]));
  const names = [...new Set([...known.keys(), ...points.map((point) => point.policy)])];
  return names
    .map((policy, i) => ({
      policy,
      index: known.get(policy) ?? i,
      points: points.filter((point) => point.policy === policy).sort((a, b) => a.a - b.a),
    }))
    .filter((group) => group.points.length > 0);
}

// The neighbourhood of the front. One policy a hundred times as late would press it into a corner.
export function nearFront(points: ParetoPoint[]): ParetoPoint[] {
  const front = paretoFront(points, paretoX, paretoY);
  const [xs, ys] = [front.map(paretoX), front.map(paretoY)];
  const xMost = 3 * Math.max(...xs);
  const height = Math.max(...ys) - Math.min(...ys);
  const yMost = Math.max(...ys) + Math.max(2 * height, 0.05 * Math.max(...ys));
  return points.filter((point) => paretoX(point) <= xMost && paretoY(point) <= yMost);
}

const paretoX = (point: ParetoPoint): number => point.mean_tardiness_s / 60;
const paretoY = (point: ParetoPoint): number => point.energy_w_min / kMegaWattMinutes;

// Off the front a policy is only a faint mark: it is there to show how far away it is.
function paretoMarks(groups: Trail[], front: ParetoPoint[]): Plot.Markish[] {
  const onFront = new Set(front);
  return [
    Plot.line(front, {
      x: paretoX,
      y: paretoY,
      curve: "step-after",
      stroke: "var(--ink)",
      strokeOpacity: 0.16,
      strokeWidth: 10,
      strokeLinejoin: "round",
      strokeLinecap: "round",
    }),
    ...groups.flatMap(({ index, ...group }) => [
      Plot.line(group.points, {
        x: paretoX,
        y: paretoY,
        stroke: category(index),
        strokeWidth: 1.5,
      }),
      Plot.dot(group.points, {
        x: paretoX,
        y: paretoY,
        r: (point: ParetoPoint) => (onFront.has(point) ? 5.5 : 3.2),
        symbol: symbolOf(index),
        fill: category(index),
        fillOpacity: (point: ParetoPoint) => (onFront.has(point) ? 1 : 0.55),
        stroke: "var(--paper)",
        strokeWidth: 0.8,
      }),
    ]),
  ];
}

// "below 3.1e−8", "3.1e−8 to 2.0e−6", "above 2.0e−6".
export function rangeText({ from, to }: WeightRange): string {
  if (from === 0) return to === null ? "any" : `below ${plain(to)}`;
  return to === null ? `above ${plain(from)}` : `${plain(from)} to ${plain(to)}`;
}

const kWattMinutesPerKwh = 60_000;

// A weight as a price: what one minute of mean tardiness is worth, 1 / a W·min.
export function priceText({ from, to }: WeightRange): string {
  const kwh = (a: number) => `${compact(1 / a / kWattMinutesPerKwh)} kWh`;
  if (from === 0) return to === null ? "anything" : `more than ${kwh(to)}`;
  return to === null ? `less than ${kwh(from)}` : `${kwh(to)} to ${kwh(from)}`;
}

function winners(points: ParetoPoint[]): ParetoPoint[] {
  return points
    .filter((point) => point.best !== null)
    .sort((a, b) => (a.best?.from ?? 0) - (b.best?.from ?? 0));
}

function pointText(point: ParetoPoint, onFront: boolean): string {
  const words = [
    `${point.policy}: energy ${megaWattMinutes(point.energy_w_min)} M W·min, `,
    `mean tardiness ${minutes(point.mean_tardiness_s)} min`,
    onFront ? "; nothing is better in both" : "",
    point.best ? `; lowest ET for a ${rangeText(point.best)}` : "",
  ];
  return words.join("");
}

function drawPareto(groups: Trail[], log: boolean, width: number, height: number): Drawing {
  const all = groups.flatMap((group) => group.points);
  const front = paretoFront(all, paretoX, paretoY);
  const plot = basePlot(width, height, "Pareto view of energy and tardiness", {
    x: {
      type: log ? "log" : "linear",
      domain: padded(all.map(paretoX), log),
      label: kTardinessLabel,
      grid: true,
      ticks: width < kNarrow ? 4 : 8,
      tickFormat: plain,
    },
    y: { domain: padded(all.map(paretoY), false), label: kEnergyLabel, grid: true, ticks: 6 },
    r: { type: "identity" },
    marks: paretoMarks(groups, front),
  });
  const at = pixels(plot);
  const onFront = new Set(front);
  const named = front.map((point) => ({
    text: point.policy,
    x: at.x(paretoX(point)),
    y: at.y(paretoY(point)),
  }));
  const others = all
    .filter((point) => !onFront.has(point))
    .map((point) => ({ x: at.x(paretoX(point)), y: at.y(paretoY(point)) }))
    .map(({ x, y }) => ({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }));
  if (width >= kNarrow) appendTexts(plot, placeLabels(named, others, width, height - 40));
  const inspected = groups.map((group) => ({
    colour: category(group.index),
    points: group.points.map((point) => ({
      x: at.x(paretoX(point)),
      y: at.y(paretoY(point)),
      text: pointText(point, onFront.has(point)),
    })),
  }));
  return { svg: plot, inspected };
}

function paretoCsv(points: ParetoPoint[]): string {
  return csvText(
    ["setting", "policy", "a", "energy_w_min", "mean_tardiness_s", "best_from_a", "best_to_a"],
    points.map((point) => [
      point.setting,
      point.policy,
      point.a,
      point.energy_w_min,
      point.mean_tardiness_s,
      point.best?.from ?? null,
      point.best?.to ?? null,
    ]),
  );
}

function weightTable(points: ParetoPoint[]): HTMLElement | null {
  const best = winners(points);
  if (best.length === 0) return null;
  const columns = ["If a minute of mean tardiness is worth", "weight a, per W·min", "the best is"];
  const cell = (label: string, text: string) =>
    make("td", { "data-label": label }, make("div", {}, text));
  return make(
    "table",
    { class: "plain weights" },
    make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)))),
    make(
      "tbody",
      {},
      ...best.map((point) =>
        make(
          "tr",
          {},
          cell(columns[0], priceText(point.best!)),
          cell(columns[1], rangeText(point.best!)),
          cell(columns[2], point.policy),
        ),
      ),
    ),
  );
}

export function paretoChart(points: ParetoPoint[], setting: Setting): Chart | null {
  const own = points.filter((point) => point.setting === setting.name);
  if (own.length < 2) return null;
  const near = nearFront(own);
  const groups = trails(near, setting.policies);
  const far = new Set(own.map(({ policy }) => policy)).size - groups.length;
  let log = wantsLog(near.map(paretoX));
  const result: Chart = chart({
    id: "pareto",
    title: "The choice behind the weight",
    description:
      "ET adds energy and tardiness with one weight a, and nobody has to believe it: the broad " +
      "grey line joins the policies that no other beats in both, and the table says which of " +
      `them wins for which weight${setting.a === null ? "" : ` (here a = ${plain(setting.a)})`}. ` +
      (far > 0 ? `${far} far from it ${far === 1 ? "is" : "are"} not drawn.` : ""),
    height: 400,
    legend: groups.map((group) => ({
      label: group.policy,
      colour: category(group.index),
      shape: "dot" as const,
      symbol: symbolOf(group.index),
    })),
    controls: near.every((point) => point.mean_tardiness_s > 0)
      ? [
          logSwitch(log, (now) => {
            log = now;
            result.redraw();
          }),
        ]
      : [],
    draw: (width, height) => drawPareto(groups, log, width, height),
    csv: () => paretoCsv(own),
  });
  const table = weightTable(own);
  if (table) result.element.append(make("div", { class: "table-wrap" }, table));
  return result;
}
