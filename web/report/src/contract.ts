// What the page is given: docs/reference/report.md says the same in words, with an example.

export interface Interval {
  mean: number;
  low: number | null;
  high: number | null;
}

// Over the days' own ratios: their geometric mean, and the least and the most of them.
export interface DayRatios extends Interval {
  least: number | null;
  most: number | null;
}

export interface Difference {
  // With the interval of the test that decides: the verdict is the side of zero on which it lies.
  et_percent: Interval | null;
  energy_percent: Interval | null;
  tardiness_percent: Interval | null;
  et_day_percent: DayRatios | null;
  // Of that test, for as many policies as were compared.
  p_adjusted: number | null;
  p_wilcoxon: number | null;
  p_holm: number | null;
  days_until_decided: number | null;
  verdict: string;
}

// How far above what no schedule can beat; null where that is nothing.
export interface Gap {
  et_percent: Interval | null;
  energy_percent: Interval | null;
  tardiness_percent: Interval | null;
}

// What no schedule can beat, as means over its days.
export interface Bounds {
  days: number;
  et: Interval;
  energy_w_min: Interval;
  mean_tardiness_s: Interval;
}

export interface DayPoint {
  seed: number;
  energy_w_min: number;
  mean_tardiness_s: number;
  et: number;
}

export interface Policy {
  name: string;
  // The same in every setting: colour and symbol.
  index: number;
  scheduler: string;
  repartition: string;
  days: number;
  et: Interval;
  energy_w_min: Interval;
  mean_tardiness_s: Interval;
  energy_kwh: number | null;
  late_share: number | null;
  et_energy_part: number;
  et_tardiness_part: number;
  diff: Difference | null;
  gap: Gap | null;
  points: DayPoint[];
  // Means over the days beside the main ones, by key; what is not known is left out.
  means: Record<string, number>;
  // Further columns, by their heading.
  extra: Record<string, Cell>;
}

export interface Setting {
  name: string;
  reference: string;
  // Fewer cannot decide among so many policies.
  days_min: number | null;
  a: number | null;
  bounds: Bounds | null;
  policies: Policy[];
}

export interface ParetoPoint {
  setting: string;
  policy: string;
  a: number;
  energy_w_min: number;
  mean_tardiness_s: number;
  // The weights for which this policy has the lowest ET; null where it is so for none.
  best: WeightRange | null;
}

export interface WeightRange {
  from: number;
  to: number | null;
}

export interface Job {
  id: string;
  class: string;
  arrival_s: number;
  deadline_s: number | null;
  completion_s: number | null;
}

// Columns, because a day can have more than 100,000 pieces and objects would be ten times as large.
export interface Pieces {
  job: string[];
  gpu: Int32Array;
  start_slot: Int32Array;
  slots: Int32Array;
  profile: string[];
  begin_s: Float64Array;
  end_s: Float64Array;
}

export interface LayoutSpan {
  gpu: number;
  begin_s: number;
  end_s: number;
  layout: string;
}

// A step function: value[i] holds from time_s[i] to time_s[i + 1].
export interface Steps {
  time_s: Float64Array;
  value: Float64Array;
}

export interface HourlyRate {
  hour: number;
  jobs: number;
}

export interface Day {
  setting: string;
  policy: string;
  seed: number | null;
  energy_j: number | null;
  mean_tardiness_s: number | null;
  // Which seconds of the run are shown.
  window_s: [number, number] | null;
  gpu: string;
  gpus: number;
  memory_slices: number;
  jobs: Job[];
  pieces: Pieces;
  layouts: LayoutSpan[];
  power: Steps;
  queue: Steps;
  rates: HourlyRate[];
}

export type Cell = string | number | null;

export interface TableFigure {
  kind: "table";
  title: string;
  note: string;
  columns: string[];
  rows: Cell[][];
}

export interface XyPoint {
  x: number;
  y: number;
  low: number | null;
  high: number | null;
}

export interface XySeries {
  name: string;
  points: XyPoint[];
}

export interface XyFigure {
  kind: "xy";
  title: string;
  note: string;
  x_label: string;
  y_label: string;
  x_log: boolean;
  y_log: boolean;
  series: XySeries[];
}

export type Figure = TableFigure | XyFigure;

export interface Report {
  title: string;
  generated_by: string;
  source: string;
  settings: Setting[];
  pareto: ParetoPoint[];
  days: Day[];
  figures: Figure[];
}
