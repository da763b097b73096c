// The pieces of a day sorted into lanes (one lane is one memory slot of one GPU), so that what lies
// in a window, or under the pointer, is found by bisection. No drawing here.

import type { Day, Job, Pieces } from "./contract";
import { byFrequency, tardiness_s } from "./series";

const kNoClass = "no class";

export interface GanttModel {
  pieces: Pieces;
  gpus: number;
  slotsPerGpu: number;
  lanes: number;
  // Lane l owns laneItems[laneStart[l]] to laneItems[laneStart[l + 1] - 1]: indices of pieces by
  // growing begin. Pieces of one lane do not overlap, so their ends grow as well.
  laneStart: Uint32Array;
  laneItems: Uint32Array;
  jobs: Map<string, Job>;
  piecesOfJob: Map<string, number[]>;
  // By number of jobs, the order that gives classes their colours in all charts.
  classes: string[];
}

function orderByBegin(pieces: Pieces): Uint32Array {
  return new Uint32Array(pieces.begin_s.length)
    .map((_, i) => i)
    .sort((a, b) => pieces.begin_s[a] - pieces.begin_s[b]);
}

function laneRange(
  model: { pieces: Pieces; slotsPerGpu: number },
  piece: number,
): [number, number] {
  const { gpu, start_slot, slots } = model.pieces;
  const first = gpu[piece] * model.slotsPerGpu + start_slot[piece];
  return [first, first + Math.min(slots[piece], model.slotsPerGpu - start_slot[piece])];
}

function groupByJob(pieces: Pieces, order: Uint32Array): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const piece of order) {
    const group = groups.get(pieces.job[piece]);
    if (group) group.push(piece);
    else groups.set(pieces.job[piece], [piece]);
  }
  return groups;
}

function largest(values: Int32Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

export function ganttModel(day: Day): GanttModel {
  const { pieces } = day;
  const gpus = Math.max(day.gpus, largest(pieces.gpu) + 1);
  const slotsPerGpu = Math.max(day.memory_slices, largest(pieces.start_slot) + 1);
  const lanes = gpus * slotsPerGpu;
  const order = orderByBegin(pieces);
  const laneStart = new Uint32Array(lanes + 1);
  const base = { pieces, slotsPerGpu };
  for (const piece of order) {
    const [first, end] = laneRange(base, piece);
    for (let lane = first; lane < end; ++lane) ++laneStart[lane + 1];
  }
  for (let lane = 0; lane < lanes; ++lane) laneStart[lane + 1] += laneStart[lane];
  const next = laneStart.slice();
  const laneItems = new Uint32Array(laneStart[lanes]);
  for (const piece of order) {
    const [first, end] = laneRange(base, piece);
    for (let lane = first; lane < end; ++lane) laneItems[next[lane]++] = piece;
  }
  return {
    pieces,
    gpus,
    slotsPerGpu,
    lanes,
    laneStart,
    laneItems,
    jobs: new Map(day.jobs.map((job) => [job.id, job])),
    piecesOfJob: groupByJob(pieces, order),
    classes: byFrequency(day.jobs.map((job) => job.class || kNoClass)),
  };
}

// First position in the lane whose piece ends after `time`.
export function laneLowerBound(model: GanttModel, lane: number, time: number): number {
  let low = model.laneStart[lane];
  let high = model.laneStart[lane + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (model.pieces.end_s[model.laneItems[middle]] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The piece at a time in a lane, or one whose edge is within `slack_s`; null when the lane is idle.
export function pieceAt(
  model: GanttModel,
  lane: number,
  time: number,
  slack_s: number,
): number | null {
  if (lane < 0 || lane >= model.lanes) return null;
  const at = laneLowerBound(model, lane, time - slack_s);
  let best: number | null = null;
  let bestDistance = slack_s;
  for (let i = at; i < model.laneStart[lane + 1]; ++i) {
    const piece = model.laneItems[i];
    if (model.pieces.begin_s[piece] > time + slack_s) break;
    const distance = Math.max(
      model.pieces.begin_s[piece] - time,
      time - model.pieces.end_s[piece],
      0,
    );
    if (distance === 0) return piece;
    if (distance <= bestDistance) {
      best = piece;
      bestDistance = distance;
    }
  }
  return best;
}

// The piece before or after another one in its first lane.
export function neighbour(model: GanttModel, piece: number, step: 1 | -1): number {
  const [lane] = laneRange(model, piece);
  const from = model.laneStart[lane];
  const items = model.laneItems.subarray(from, model.laneStart[lane + 1]);
  const place = items.indexOf(piece) + step;
  return items[Math.max(0, Math.min(items.length - 1, place))];
}

export function entriesInWindow(
  model: GanttModel,
  begin_s: number,
  end_s: number,
  firstLane: number,
  lastLane: number,
): number {
  let count = 0;
  for (let lane = firstLane; lane < lastLane; ++lane) {
    count += laneLowerBound(model, lane, end_s) - laneLowerBound(model, lane, begin_s);
  }
  return count;
}

export interface Categories {
  labels: string[];
  // Which category each piece has.
  of: Uint8Array;
}

export type ColourBy = "class" | "lateness" | "slice";

const kClassesMax = 7;

function categoriesOf(values: string[], names: string[]): Categories {
  const labels = names.length > kClassesMax + 1 ? [...names.slice(0, kClassesMax), "other"] : names;
  const index = new Map(labels.map((label, i) => [label, i]));
  const of = Uint8Array.from(values, (value) => index.get(value) ?? labels.length - 1);
  return { labels, of };
}

export const kLatenessLabels = ["in time", "late up to 1 min", "late up to 10 min", "later"];

function latenessOf(job: Job | undefined): number {
  const late = job === undefined ? null : tardiness_s(job);
  if (late === null || late <= 0) return 0;
  return late <= 60 ? 1 : late <= 600 ? 2 : 3;
}

export function categorise(model: GanttModel, by: ColourBy): Categories {
  const { job, profile } = model.pieces;
  if (by === "class") {
    return categoriesOf(
      job.map((id) => model.jobs.get(id)?.class || kNoClass),
      model.classes,
    );
  }
  if (by === "slice") return categoriesOf(profile, byFrequency(profile));
  return {
    labels: kLatenessLabels,
    of: Uint8Array.from(job, (id) => latenessOf(model.jobs.get(id))),
  };
}

type Rgb = [number, number, number];

// One row of pixels for a lane where pieces are narrower than pixels: each has the mean colour of
// what ran during its time and is as opaque as the lane was busy, so the overview shows use.
export function rasterLane(
  model: GanttModel,
  lane: number,
  begin_s: number,
  perSecond: number,
  width: number,
  category: Uint8Array,
  colours: Rgb[],
  row: Float32Array,
  out: Uint8ClampedArray,
  outAt: number,
): void {
  row.fill(0, 0, width * 4);
  const { begin_s: begins, end_s: ends } = model.pieces;
  const last = model.laneStart[lane + 1];
  for (let i = laneLowerBound(model, lane, begin_s); i < last; ++i) {
    const piece = model.laneItems[i];
    const from = Math.max(0, (begins[piece] - begin_s) * perSecond);
    if (from >= width) break;
    const to = Math.min(width, (ends[piece] - begin_s) * perSecond);
    addCoverage(row, from, to, colours[category[piece]]);
  }
  for (let x = 0; x < width; ++x) {
    const busy = row[4 * x + 3];
    if (busy <= 0) {
      out[outAt + 4 * x + 3] = 0;
      continue;
    }
    for (let c = 0; c < 3; ++c) out[outAt + 4 * x + c] = row[4 * x + c] / busy;
    out[outAt + 4 * x + 3] = 255 * Math.min(1, busy);
  }
}

function addCoverage(row: Float32Array, from: number, to: number, colour: Rgb): void {
  for (let x = Math.floor(from); x < to; ++x) {
    const share = Math.min(to, x + 1) - Math.max(from, x);
    row[4 * x] += share * colour[0];
    row[4 * x + 1] += share * colour[1];
    row[4 * x + 2] += share * colour[2];
    row[4 * x + 3] += share;
  }
}
