// The day in detail, apart from the Gantt chart: layouts and arrivals, queue, power, tardiness.

import * as Plot from "@observablehq/plot";
import { chart, type Chart, type Drawing, type LegendEntry } from "./chart";
import type { Cell, Day, HourlyRate, Steps } from "./contract";
import { clock, compact, csvText, duration, fixed, tickLabel, timeTicks } from "./format";
import { category, shade } from "./palette";
import { basePlot, kMarginLeft, kNarrow, pixels } from "./plotting";
import {
  arrivalsPerHour,
  bucketSteps,
  byFrequency,
  ecdf,
  type EcdfPoint,
  kOtherMix,
  layoutShares,
  type LayoutShares,
  quantile,
  tardiness_s,
  thin,
} from "./series";

export interface TimeWindow {
  begin_s: number;
  end_s: number;
}

function timeAxis(window: TimeWindow, width: number): Plot.ScaleOptions {
  const ticks = timeTicks(window.begin_s, window.end_s, width < kNarrow ? 4 : 10);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 3600;
  return {
    domain: [window.begin_s, window.end_s],
    ticks,
    tickFormat: (value: number) => tickLabel(value, step),
    label: "time of day →",
  };
}

// ---- layouts and arrivals

const kBin_s = 300;
const kMixesMax = 7;

function mixColour(shares: LayoutShares, index: number): string {
  if (shares.mixes[index] === kOtherMix) return "var(--other)";
  const main = shares.mixes.filter((mix) => mix !== kOtherMix).length;
  return shade(index, main);
}

interface StackPiece {
  begin_s: number;
  end_s: number;
  from: number;
  to: number;
  mix: number;
}

// Equal neighbours are joined: a static mix is then one rectangle, not 288.
export function stackPieces(shares: LayoutShares): StackPiece[] {
  const pieces: StackPiece[] = [];
  shares.mixes.forEach((_, mix) => {
    let last: StackPiece | null = null;
    for (const bin of shares.bins) {
      const from = bin.gpus.slice(0, mix).reduce((sum, value) => sum + value, 0);
      const to = from + bin.gpus[mix];
      if (last !== null && Math.abs(last.from - from) < 1e-6 && Math.abs(last.to - to) < 1e-6) {
        last.end_s = bin.end_s;
      } else {
        last = { begin_s: bin.begin_s, end_s: bin.end_s, from, to, mix };
        pieces.push(last);
      }
    }
  });
  return pieces.filter((piece) => piece.to > piece.from);
}

// Rates are given an hour of the day; a longer run repeats them.
function expectedAt(rates: HourlyRate[], hour: number): number | null {
  return rates.find((rate) => rate.hour === hour % 24)?.jobs ?? null;
}

function arrivalMarks(arrivals: number[], rates: HourlyRate[], perGpu: number): Plot.Markish[] {
  const counted = arrivals.map((jobs, hour) => ({ time: (hour + 0.5) * 3600, y: jobs / perGpu }));
  const expected = arrivals.map((_, hour) => ({
    time: (hour + 0.5) * 3600,
    y: (expectedAt(rates, hour) ?? NaN) / perGpu,
  }));
  const curve = { x: "time", y: "y", curve: "monotone-x" } as const;
  return [
    Plot.line(counted, { ...curve, stroke: "var(--paper)", strokeWidth: 6 }),
    Plot.line(expected, { ...curve, stroke: "var(--paper)", strokeWidth: 4 }),
    Plot.line(expected, {
      ...curve,
      stroke: "var(--accent)",
      strokeWidth: 1.5,
      strokeDasharray: "4 4",
    }),
    Plot.line(counted, { ...curve, stroke: "var(--accent)", strokeWidth: 2.5 }),
    Plot.dot(counted, { x: "time", y: "y", r: 2.5, fill: "var(--accent)" }),
  ];
}

function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return (
    [1, 2, 2.5, 4, 5, 8, 10].map((n) => n * unit).find((candidate) => candidate >= value) ?? value
  );
}

function drawLayouts(
  day: Day,
  shares: LayoutShares,
  arrivals: number[],
  end_s: number,
  width: number,
  height: number,
): Drawing {
  const expectedMost = Math.max(0, ...day.rates.map((rate) => rate.jobs));
  const most = roundUp(Math.max(1, expectedMost, ...arrivals));
  const perGpu = most / Math.max(1, day.gpus);
  const parts = [4, 5, 2].find((count) => most % count === 0) ?? 1;
  const rightTicks = Array.from({ length: parts + 1 }, (_, i) => (i * most) / parts / perGpu);
  const plot = basePlot(width, height, "Layouts over the day and arrivals per hour", {
    marginRight: 52,
    x: timeAxis({ begin_s: 0, end_s }, width - 110),
    y: {
      domain: [0, day.gpus],
      label: "↑ GPUs in each layout",
      ticks: Math.min(day.gpus, 8),
      tickFormat: (value: number) => fixed(value, 0),
    },
    marks: [
      ...shares.mixes.map((_, mix) =>
        Plot.rect(
          stackPieces(shares).filter((piece) => piece.mix === mix),
          {
            x1: "begin_s",
            x2: "end_s",
            y1: "from",
            y2: "to",
            fill: mixColour(shares, mix),
            // Neighbours meet without a seam of the page between them.
            shapeRendering: "crispEdges",
          },
        ),
      ),
      Plot.axisY({ anchor: "left" }),
      Plot.axisY(rightTicks, {
        anchor: "right",
        label: "arrivals an hour ↑",
        color: "var(--accent-text)",
        tickFormat: (value: number) => fixed(value * perGpu, 0),
      }),
      ...arrivalMarks(arrivals, day.rates, perGpu),
    ],
  });
  const at = pixels(plot);
  const points = arrivals.map((jobs, hour) => ({
    x: at.x((hour + 0.5) * 3600),
    y: at.y(jobs / perGpu),
    text: hourText(shares, jobs, hour),
  }));
  return { svg: plot, inspected: [{ colour: "var(--accent)", points }] };
}

function hourText(shares: LayoutShares, jobs: number, hour: number): string {
  const middle = (hour + 0.5) * 3600;
  const bin = shares.bins.find((candidate) => candidate.end_s > middle) ?? shares.bins.at(-1);
  const parts = shares.mixes.flatMap((mix, i) =>
    (bin?.gpus[i] ?? 0) > 0.005 ? [`${compact(bin!.gpus[i]).replace(/\.0+$/, "")} of ${mix}`] : [],
  );
  return (
    `${clock(hour * 3600, false)} to ${clock((hour + 1) * 3600, false)}: ${jobs} jobs arrived; ` +
    `GPUs at half past: ${parts.join(", ")}`
  );
}

function layoutsCsv(shares: LayoutShares, arrivals: number[], rates: HourlyRate[]): string {
  const header = [
    "begin_s",
    "end_s",
    ...shares.mixes.map((mix) => `gpus: ${mix}`),
    "arrivals_in_this_hour",
    "arrivals_expected_in_this_hour",
  ];
  return csvText(
    header,
    shares.bins.map((bin) => {
      const hour = Math.floor(bin.begin_s / 3600);
      return [bin.begin_s, bin.end_s, ...bin.gpus, arrivals[hour] ?? 0, expectedAt(rates, hour)];
    }),
  );
}

export function layoutsChart(day: Day, end_s: number): Chart {
  const shares = layoutShares(day.layouts, end_s, kBin_s, kMixesMax);
  const arrivals = arrivalsPerHour(day.jobs);
  const legend: LegendEntry[] = shares.mixes.map((label, i) => ({
    label,
    colour: mixColour(shares, i),
    shape: "box",
  }));
  legend.push({ label: "arrivals an hour", colour: "var(--accent)", shape: "line" });
  if (day.rates.length > 0)
    legend.push({ label: "expected", colour: "var(--accent)", shape: "dash" });
  return chart({
    id: "layouts",
    title: "Layouts over the day",
    description:
      `Number of GPUs (of ${day.gpus}) cut in each way, mean over 5 minutes, coarse slices ` +
      "at the bottom; over it the jobs arriving an hour (right axis).",
    height: 360,
    legend,
    draw: (width, height) => drawLayouts(day, shares, arrivals, end_s, width, height),
    csv: () => layoutsCsv(shares, arrivals, day.rates),
  });
}

// ---- queue and power

interface TimelineSpec {
  id: string;
  title: string;
  description: string;
  unit: string;
  axis: string;
  column: string;
  colour: string;
  steps: Steps;
  window: () => TimeWindow;
}

function drawTimeline(spec: TimelineSpec, width: number, height: number): Drawing {
  const window = spec.window();
  const count = Math.max(40, Math.min(360, Math.floor((width - kMarginLeft) / 3)));
  const buckets = bucketSteps(spec.steps, window.begin_s, window.end_s, count).map((bucket) => ({
    ...bucket,
    middle_s: (bucket.begin_s + bucket.end_s) / 2,
  }));
  const most = Math.max(1e-9, ...buckets.map((bucket) => bucket.max));
  const plot = basePlot(width, height, spec.title, {
    x: timeAxis(window, width),
    y: { domain: [0, most * 1.04], label: spec.axis, grid: true, ticks: 5 },
    marks: [
      Plot.areaY(buckets, {
        x: "middle_s",
        y1: "min",
        y2: "max",
        curve: "step",
        fill: spec.colour,
        fillOpacity: 0.2,
      }),
      Plot.lineY(buckets, {
        x: "middle_s",
        y: "mean",
        curve: "step",
        stroke: spec.colour,
        strokeWidth: 1.6,
      }),
      Plot.ruleY([0], { stroke: "var(--rule-2)" }),
    ],
  });
  const at = pixels(plot);
  const points = buckets.map((bucket) => ({
    x: at.x(bucket.middle_s),
    y: at.y(bucket.mean),
    text: `${clock(bucket.begin_s)} to ${clock(bucket.end_s)}: mean ${compact(bucket.mean)}, least ${compact(
      bucket.min,
    )}, most ${compact(bucket.max)} ${spec.unit}`,
  }));
  return { svg: plot, inspected: [{ colour: spec.colour, points }] };
}

function stepsCsv(steps: Steps, column: string): string {
  const rows: Cell[][] = [];
  for (let i = 0; i < steps.time_s.length; ++i) rows.push([steps.time_s[i], steps.value[i]]);
  return csvText(["time_s", column], rows);
}

function timeline(spec: TimelineSpec): Chart {
  return chart({
    id: spec.id,
    title: spec.title,
    description: spec.description,
    height: 220,
    draw: (width, height) => drawTimeline(spec, width, height),
    csv: () => stepsCsv(spec.steps, spec.column),
  });
}

const kFollows = "Line: mean; band: least to most. It shows the same hours as the chart of slices.";

export function queueChart(day: Day, window: () => TimeWindow): Chart {
  return timeline({
    id: "queue",
    title: "Queue",
    description: `Jobs that wait for a slice. ${kFollows}`,
    unit: "jobs",
    axis: "↑ jobs waiting",
    column: "waiting",
    colour: "var(--c4)",
    steps: day.queue,
    window,
  });
}

export function powerChart(day: Day, window: () => TimeWindow): Chart {
  return timeline({
    id: "power",
    title: "Power",
    description: `Power of ${day.gpus === 1 ? "the GPU" : `all ${day.gpus} GPUs`}, in watts. ${kFollows}`,
    unit: "W",
    axis: "↑ watts",
    column: "watts",
    colour: "var(--energy)",
    steps: day.power,
    window,
  });
}

// ---- tardiness

const kClassesMax = 6;
const kCurvePoints = 600;

interface Distribution {
  name: string;
  colour: string;
  curve: EcdfPoint[];
}

function distributions(day: Day): Distribution[] {
  const of = (name: string | null): EcdfPoint[] =>
    ecdf(
      day.jobs.flatMap((job) => {
        const late = name === null || job.class === name ? tardiness_s(job) : null;
        return late === null ? [] : [late];
      }),
    );
  const classes = byFrequency(day.jobs.map((job) => job.class));
  const split = classes.length > 1 && classes.length <= kClassesMax ? classes : [];
  return [
    ...split.map((name, i) => ({ name, colour: category(i), curve: of(name) })),
    { name: "all jobs", colour: "var(--ink)", curve: of(null) },
  ].filter(({ curve }) => curve.length > 0);
}

// Late by nothing is on the axis too, so the scale is linear below one second.
function tardinessTicks(most: number): number[] {
  return [0, 1, 10, 60, 600, 3600, 36000, 360000].filter((tick) => tick <= most * 1.2);
}

function shortDuration(seconds: number): string {
  if (seconds < 60) return seconds === 0 ? "0" : `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
}

function drawTardiness(all: Distribution[], width: number, height: number): Drawing {
  const most = Math.max(1, ...all.map(({ curve }) => curve.at(-1)?.value ?? 0));
  const plot = basePlot(width, height, "Distribution of tardiness", {
    x: {
      type: "symlog",
      constant: 1,
      domain: [0, most * 1.1],
      ticks: tardinessTicks(most),
      tickFormat: shortDuration,
      label: "late by at most →",
      grid: true,
    },
    y: { domain: [0, 100], label: "↑ share of jobs, %", grid: true, ticks: 5 },
    marks: all.map(({ curve, colour, name }) =>
      Plot.line([{ value: 0, share: 0 }, ...thin(curve, kCurvePoints)], {
        x: "value",
        y: (point: EcdfPoint) => 100 * point.share,
        curve: "step-after",
        stroke: colour,
        strokeWidth: name === "all jobs" ? 2.6 : 1.5,
      }),
    ),
  });
  const at = pixels(plot);
  const inspected = all.map(({ curve, colour, name }) => ({
    colour,
    points: thin(curve, 200).map((point) => ({
      x: at.x(point.value),
      y: at.y(100 * point.share),
      text: `${name}: ${fixed(100 * point.share, 1)} % are late by ${duration(point.value)} or less`,
    })),
  }));
  return { svg: plot, inspected };
}

function tardinessCsv(day: Day): string {
  return csvText(
    ["job", "class", "arrival_s", "deadline_s", "completion_s", "tardiness_s"],
    day.jobs.map((job) => [
      job.id,
      job.class,
      job.arrival_s,
      job.deadline_s,
      job.completion_s,
      tardiness_s(job),
    ]),
  );
}

export function tardinessChart(day: Day): Chart {
  const all = distributions(day);
  const curve = all.at(-1)?.curve ?? [];
  const quantiles = [0.5, 0.95, 0.99].map(
    (share) =>
      `${100 * share} % of the jobs are late by ${duration(quantile(curve, share))} or less`,
  );
  return chart({
    id: "tardiness",
    title: "Who is late, and by how much",
    description: `Share of jobs that are late by at most a time. ${quantiles.join("; ")}.`,
    height: 340,
    legend: all.map(({ name, colour }) => ({
      label: name || "no class",
      colour,
      shape: "line" as const,
    })),
    draw: (width, height) => drawTardiness(all, width, height),
    csv: () => tardinessCsv(day),
  });
}
