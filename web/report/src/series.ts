// What the charts draw, computed from what the report holds. Pure functions.

import type { Day, Job, LayoutSpan, Steps } from "./contract";

export interface Bucket {
  begin_s: number;
  end_s: number;
  mean: number;
  min: number;
  max: number;
}

// Index of the last step that begins at or before `time`; -1 before the first.
export function stepAt(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function bucketOf(steps: Steps, begin_s: number, end_s: number): Bucket {
  const first = Math.max(0, stepAt(steps.time_s, begin_s));
  let area = 0;
  let min = Infinity;
  let max = -Infinity;
  for (let i = first; i < steps.time_s.length && (i === first || steps.time_s[i] < end_s); ++i) {
    const from = Math.max(begin_s, steps.time_s[i]);
    const next = i + 1 < steps.time_s.length ? steps.time_s[i + 1] : end_s;
    const width = Math.max(0, Math.min(end_s, next) - from);
    if (width === 0) continue;
    area += width * steps.value[i];
    min = Math.min(min, steps.value[i]);
    max = Math.max(max, steps.value[i]);
  }
  const known = min <= max;
  return {
    begin_s,
    end_s,
    mean: area / (end_s - begin_s),
    min: known ? min : 0,
    max: known ? max : 0,
  };
}

// Mean over time, least and greatest value in each of `count` equal parts of the window.
export function bucketSteps(steps: Steps, begin_s: number, end_s: number, count: number): Bucket[] {
  if (steps.time_s.length === 0 || !(end_s > begin_s)) return [];
  const width = (end_s - begin_s) / count;
  return Array.from({ length: count }, (_, i) =>
    bucketOf(steps, begin_s + i * width, begin_s + (i + 1) * width),
  );
}

// "4g.20gb:0,2g.10gb:4,1g.5gb:6" is the mix "4g + 2g + 1g", wherever the slices lie.
export function mixOfLayout(layout: string): string {
  const sizes = layout.split(",").map((part) => /^(\d+)g\b/.exec(part.trim())?.[1]);
  if (layout.trim() === "") return "no slices";
  if (sizes.some((size) => size === undefined)) return layout;
  const counts = new Map<number, number>();
  for (const size of sizes.map(Number)) counts.set(size, (counts.get(size) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[0] - a[0])
    .map(([size, count]) => (count > 1 ? `${count}×${size}g` : `${size}g`))
    .join(" + ");
}

// Coarse mixes first: by largest slice, then by fewer slices.
function coarseness(mix: string): number {
  const parts = [...mix.matchAll(/(?:(\d+)×)?(\d+)g/g)];
  if (parts.length === 0) return -1;
  const slices = parts.reduce((sum, part) => sum + Number(part[1] ?? 1), 0);
  return Number(parts[0][2]) * 100 - slices;
}

export const kOtherMix = "changing or other";

export interface LayoutShares {
  mixes: string[];
  bins: { begin_s: number; end_s: number; gpus: number[] }[];
}

function gpuSecondsByMix(layouts: LayoutSpan[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const span of layouts) {
    const mix = mixOfLayout(span.layout);
    total.set(mix, (total.get(mix) ?? 0) + Math.max(0, span.end_s - span.begin_s));
  }
  return total;
}

// The `mixesMax` mixes with most GPU time, coarse first; a mix seen for less than one part in a
// thousand is a step on the way from one layout to another.
export function mainMixes(layouts: LayoutSpan[], mixesMax: number): string[] {
  const total = gpuSecondsByMix(layouts);
  const all = [...total.values()].reduce((sum, value) => sum + value, 0);
  return [...total]
    .filter(([, time]) => time >= all / 1000)
    .sort((a, b) => b[1] - a[1])
    .slice(0, mixesMax)
    .map(([mix]) => mix)
    .sort((a, b) => coarseness(b) - coarseness(a));
}

// Mean number of GPUs in each mix, in parts of `width_s`.
export function layoutShares(
  layouts: LayoutSpan[],
  end_s: number,
  width_s: number,
  mixesMax: number,
): LayoutShares {
  const mixes = mainMixes(layouts, mixesMax);
  const index = new Map(mixes.map((mix, i) => [mix, i]));
  const other = mixes.length;
  const bins = Array.from({ length: Math.max(1, Math.ceil(end_s / width_s - 1e-9)) }, (_, i) => ({
    begin_s: i * width_s,
    end_s: Math.min(end_s, (i + 1) * width_s),
    gpus: new Array<number>(other + 1).fill(0),
  }));
  for (const span of layouts) {
    const column = index.get(mixOfLayout(span.layout)) ?? other;
    addSpan(bins, span, column, width_s);
  }
  const hasOther = bins.some((bin) => bin.gpus[other] > 1e-9);
  if (hasOther) return { mixes: [...mixes, kOtherMix], bins };
  return { mixes, bins: bins.map((bin) => ({ ...bin, gpus: bin.gpus.slice(0, other) })) };
}

function addSpan(
  bins: LayoutShares["bins"],
  span: LayoutSpan,
  column: number,
  width_s: number,
): void {
  const first = Math.max(0, Math.floor(span.begin_s / width_s));
  for (let i = first; i < bins.length && bins[i].begin_s < span.end_s; ++i) {
    const bin = bins[i];
    const overlap = Math.min(bin.end_s, span.end_s) - Math.max(bin.begin_s, span.begin_s);
    if (overlap > 0) bin.gpus[column] += overlap / (bin.end_s - bin.begin_s);
  }
}

export function arrivalsPerHour(jobs: Job[]): number[] {
  const last = jobs.reduce((most, job) => Math.max(most, job.arrival_s), 0);
  const counts = new Array<number>(Math.max(1, Math.floor(last / 3600) + 1)).fill(0);
  // A job that came before the hours shown is there, but did not arrive in them.
  for (const job of jobs) {
    if (job.arrival_s >= 0) ++counts[Math.floor(job.arrival_s / 3600)];
  }
  return counts;
}

export function tardiness_s(job: Job): number | null {
  if (job.completion_s === null || job.deadline_s === null) return null;
  return Math.max(0, job.completion_s - job.deadline_s);
}

export interface EcdfPoint {
  value: number;
  share: number;
}

// Share of the values at or below each distinct value.
export function ecdf(values: number[]): EcdfPoint[] {
  const sorted = [...values].sort((a, b) => a - b);
  const points: EcdfPoint[] = [];
  sorted.forEach((value, i) => {
    const share = (i + 1) / sorted.length;
    if (i + 1 === sorted.length || sorted[i + 1] !== value) points.push({ value, share });
  });
  return points;
}

// Every k-th point, and always the first and the last: a curve needs no more points than pixels.
export function thin<T>(points: T[], countMax: number): T[] {
  if (points.length <= countMax) return points;
  const step = (points.length - 1) / (countMax - 1);
  return Array.from({ length: countMax }, (_, i) => points[Math.round(i * step)]);
}

export function quantile(points: EcdfPoint[], share: number): number {
  return points.find((point) => point.share >= share - 1e-12)?.value ?? 0;
}

// Points that no other point beats in both coordinates, by growing x.
export function paretoFront<T>(points: T[], x: (point: T) => number, y: (point: T) => number): T[] {
  const sorted = [...points].sort((a, b) => x(a) - x(b) || y(a) - y(b));
  const front: T[] = [];
  let least = Infinity;
  for (const point of sorted) {
    if (y(point) >= least) continue;
    least = y(point);
    front.push(point);
  }
  return front;
}

// What is left of a job after the hours shown does not stretch them.
export function dayEnd_s(day: Day): number {
  if (day.window_s !== null) return Math.max(day.window_s[1] - day.window_s[0], 60);
  let end = 0;
  for (const value of day.pieces.end_s) end = Math.max(end, value);
  for (const span of day.layouts) end = Math.max(end, span.end_s);
  for (const job of day.jobs) end = Math.max(end, job.completion_s ?? job.arrival_s);
  const last = day.power.time_s.at(-1) ?? 0;
  return Math.max(end, last, 60);
}

// Distinct values, most frequent first.
export function byFrequency(values: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([value]) => value);
}
