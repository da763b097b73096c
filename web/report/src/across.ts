// Every policy against the reference in every setting: where an advantage survives.

import * as Plot from "@observablehq/plot";
import { chart, type Chart, type Drawing } from "./chart";
import type { Interval, Setting } from "./contract";
import { csvText, percent, withInterval } from "./format";
import type { Inspected } from "./inspect";
import { category, symbolOf } from "./palette";
import { basePlot, kNarrow, pixels } from "./plotting";

interface Mark {
  setting: string;
  policy: string;
  index: number;
  et: Interval;
  verdict: string;
}

// Beyond this many percent above the reference a policy is out of the question.
const kCut = 60;
const kLineHeight = 15;

export function marksOf(settings: Setting[]): Mark[] {
  const marks = settings.flatMap((setting) =>
    setting.policies.flatMap((policy) =>
      policy.diff?.et_percent
        ? [
            {
              setting: setting.name,
              policy: policy.name,
              index: policy.index,
              et: policy.diff.et_percent,
              verdict: policy.diff.verdict,
            },
          ]
        : [],
    ),
  );
  const worth = new Set(marks.filter(({ et }) => et.mean < kCut).map(({ policy }) => policy));
  return marks.filter(({ policy }) => worth.has(policy));
}

function domainOf(marks: Mark[]): [number, number] {
  const ends = marks.flatMap(({ et }) => [et.low ?? et.mean, et.high ?? et.mean]);
  const low = Math.max(-100, Math.min(0, ...ends));
  const high = Math.min(kCut, Math.max(0, ...ends));
  return [low - 3, Math.max(high + 3, 5)];
}

function draw(settings: Setting[], marks: Mark[], width: number, height: number): Drawing {
  const [low, high] = domainOf(marks);
  const inside = (value: number) => Math.min(Math.max(value, low), high);
  const policies = [...new Set(marks.map(({ policy }) => policy))];
  // Policies of one setting lie below each other inside its band.
  const line = (mark: Mark) =>
    settings.findIndex(({ name }) => name === mark.setting) +
    (policies.indexOf(mark.policy) + 1) / (policies.length + 1);
  const spots = marks.map((mark) => ({
    mark,
    y: line(mark),
    x: inside(mark.et.mean),
    x1: inside(mark.et.low ?? mark.et.mean),
    x2: inside(mark.et.high ?? mark.et.mean),
  }));
  const narrow = width < kNarrow;
  const plot = basePlot(width, height, "ET against the reference in every setting", {
    marginLeft: narrow ? 90 : 170,
    x: { domain: [low, high], label: "ET against the reference, % →", ticks: narrow ? 4 : 9 },
    y: { domain: [0, settings.length], axis: null, reverse: true },
    marks: [
      Plot.gridX({ stroke: "var(--rule)", strokeOpacity: 1, ticks: narrow ? 4 : 9 }),
      Plot.ruleY(
        settings.map((_, i) => i).slice(1),
        { stroke: "var(--rule-2)" },
      ),
      Plot.ruleX([0], { stroke: "var(--ink-3)" }),
      Plot.text(settings, {
        x: low,
        y: (_: Setting, i: number) => i + 0.5,
        text: (setting: Setting) => setting.name,
        textAnchor: "end",
        dx: -10,
        lineWidth: narrow ? 7 : 14,
        fill: "var(--ink)",
      }),
      ...spots.flatMap(({ mark, ...spot }) => [
        Plot.ruleY([spot], {
          x1: "x1",
          x2: "x2",
          y: "y",
          stroke: category(mark.index),
          strokeWidth: 1.6,
        }),
        Plot.dot([spot], {
          x: "x",
          y: "y",
          r: 4.2,
          symbol: symbolOf(mark.index),
          fill: category(mark.index),
          stroke: "var(--paper)",
        }),
      ]),
    ],
  });
  const at = pixels(plot);
  const inspected: Inspected[] = policies.map((policy) => ({
    colour: category(marks.find((mark) => mark.policy === policy)!.index),
    points: spots
      .filter(({ mark }) => mark.policy === policy)
      .map(({ mark, x, y }) => ({
        x: at.x(x),
        y: at.y(y),
        text: `${mark.setting}, ${mark.policy}: ET ${withInterval(mark.et, percent)}; ${mark.verdict}`,
      })),
  }));
  return { svg: plot, inspected };
}

function csv(settings: Setting[]): string {
  return csvText(
    [
      "setting",
      "reference",
      "policy",
      "et_percent",
      "low",
      "high",
      "et_day_percent",
      "p_adjusted",
      "p_holm",
      "verdict",
    ],
    settings.flatMap((setting) =>
      setting.policies
        .filter(({ diff }) => diff !== null)
        .map((policy) => [
          setting.name,
          setting.reference,
          policy.name,
          policy.diff?.et_percent?.mean ?? null,
          policy.diff?.et_percent?.low ?? null,
          policy.diff?.et_percent?.high ?? null,
          policy.diff?.et_day_percent?.mean ?? null,
          policy.diff?.p_adjusted ?? null,
          policy.diff?.p_holm ?? null,
          policy.diff?.verdict ?? "",
        ]),
    ),
  );
}

export function acrossChart(settings: Setting[]): Chart | null {
  const marks = marksOf(settings);
  if (settings.length < 2 || marks.length === 0) return null;
  const policies = [...new Set(marks.map(({ policy }) => policy))];
  const shown = new Map(marks.map((mark) => [mark.policy, mark.index]));
  return chart({
    id: "across",
    title: "Where the advantage survives",
    description:
      "ET of each policy against the setting's reference, with 95 % intervals, in every setting. " +
      `Left of the line is better. Policies above +${kCut} % everywhere are left out, and what ` +
      "lies beyond the edge is drawn at it.",
    height: 70 + settings.length * Math.max(46, policies.length * kLineHeight + 12),
    legend: policies.map((label) => ({
      label,
      colour: category(shown.get(label) ?? 0),
      shape: "dot" as const,
      symbol: symbolOf(shown.get(label) ?? 0),
    })),
    draw: (width, height) => draw(settings, marks, width, height),
    csv: () => csv(settings),
  });
}
