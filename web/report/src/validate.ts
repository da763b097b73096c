// Turns unknown JSON into a Report. What is wrong is collected with its path, so that a page with a
// mistake in it says which one, and still draws the parts that are right.

import type {
  Bounds,
  Cell,
  Day,
  DayPoint,
  DayRatios,
  Difference,
  Figure,
  Gap,
  HourlyRate,
  Interval,
  Job,
  LayoutSpan,
  ParetoPoint,
  Pieces,
  Policy,
  Report,
  Setting,
  Steps,
  WeightRange,
  XyPoint,
  XySeries,
} from "./contract";

type Json = Record<string, unknown>;

// A file with one systematic mistake would repeat it a hundred thousand times.
const kProblemsMax = 20;

export class Problems {
  readonly list: string[] = [];
  count = 0;

  add(path: string, wanted: string, found: unknown): void {
    ++this.count;
    if (this.list.length < kProblemsMax) {
      this.list.push(`${path}: wanted ${wanted}, found ${describe(found)}`);
    }
  }
}

export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// One field reader for each type; `path` names the enclosing object.
class Reader {
  constructor(
    readonly value: Json,
    readonly path: string,
    readonly problems: Problems,
  ) {}

  private at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  number(key: string): number {
    const found = this.value[key];
    if (typeof found === "number" && Number.isFinite(found)) return found;
    this.problems.add(this.at(key), "a number", found);
    return 0;
  }

  numberOrNull(key: string): number | null {
    const found = this.value[key];
    if (found === undefined || found === null) return null;
    return this.number(key);
  }

  text(key: string, otherwise?: string): string {
    const found = this.value[key];
    if (typeof found === "string") return found;
    if (found === undefined && otherwise !== undefined) return otherwise;
    this.problems.add(this.at(key), "a text", found);
    return otherwise ?? "";
  }

  flag(key: string): boolean {
    return this.value[key] === true;
  }

  object<T>(key: string, read: (reader: Reader) => T): T | null {
    const found = this.value[key];
    if (isObject(found)) return read(new Reader(found, this.at(key), this.problems));
    this.problems.add(this.at(key), "an object", found);
    return null;
  }

  objectOrNull<T>(key: string, read: (reader: Reader) => T): T | null {
    const found = this.value[key];
    return found === undefined || found === null ? null : this.object(key, read);
  }

  // `required` false: a missing list is an empty one.
  list<T>(key: string, read: (reader: Reader) => T, required = true): T[] {
    const found = this.value[key];
    if (found === undefined && !required) return [];
    if (!Array.isArray(found)) {
      this.problems.add(this.at(key), "a list", found);
      return [];
    }
    return this.readEach(found, this.at(key), read);
  }

  private readEach<T>(items: unknown[], path: string, read: (reader: Reader) => T): T[] {
    const out: T[] = [];
    items.forEach((item, index) => {
      const itemPath = `${path}[${index}]`;
      if (isObject(item)) out.push(read(new Reader(item, itemPath, this.problems)));
      else this.problems.add(itemPath, "an object", item);
    });
    return out;
  }

  // A table given as a list of objects, or as one object of columns of equal length.
  columns(key: string, names: readonly string[]): Record<string, unknown[]> {
    const found = this.value[key];
    const empty = Object.fromEntries(names.map((name) => [name, [] as unknown[]]));
    if (Array.isArray(found)) return columnsOfRows(found, names);
    if (!isObject(found)) {
      this.problems.add(this.at(key), "a list of objects, or an object of columns", found);
      return empty;
    }
    return this.columnsOfColumns(found, key, names) ?? empty;
  }

  private columnsOfColumns(
    found: Json,
    key: string,
    names: readonly string[],
  ): Record<string, unknown[]> | null {
    const lengths = new Set<number>();
    for (const name of names) {
      const column = found[name];
      if (!Array.isArray(column)) {
        this.problems.add(`${this.at(key)}.${name}`, "a list", column);
        return null;
      }
      lengths.add(column.length);
    }
    if (lengths.size > 1) {
      this.problems.add(this.at(key), "columns of one length", [...lengths].join(", "));
      return null;
    }
    return found as Record<string, unknown[]>;
  }

  numbers(column: unknown[], name: string): Float64Array {
    const out = new Float64Array(column.length);
    for (let i = 0; i < column.length; ++i) {
      const found = column[i];
      if (typeof found === "number" && Number.isFinite(found)) out[i] = found;
      else this.problems.add(`${this.at(name)} row ${i}`, "a number", found);
    }
    return out;
  }
}

function columnsOfRows(rows: unknown[], names: readonly string[]): Record<string, unknown[]> {
  const out: Record<string, unknown[]> = {};
  for (const name of names) out[name] = rows.map((row) => (isObject(row) ? row[name] : undefined));
  return out;
}

function readInterval(reader: Reader): Interval {
  return {
    mean: reader.number("mean"),
    low: reader.numberOrNull("low"),
    high: reader.numberOrNull("high"),
  };
}

function readDayRatios(reader: Reader): DayRatios {
  return {
    ...readInterval(reader),
    least: reader.numberOrNull("least"),
    most: reader.numberOrNull("most"),
  };
}

const kNoInterval: Interval = { mean: 0, low: null, high: null };

function readDifference(reader: Reader): Difference {
  return {
    et_percent: reader.objectOrNull("et_percent", readInterval),
    energy_percent: reader.objectOrNull("energy_percent", readInterval),
    tardiness_percent: reader.objectOrNull("tardiness_percent", readInterval),
    et_day_percent: reader.objectOrNull("et_day_percent", readDayRatios),
    p_adjusted: reader.numberOrNull("p_adjusted"),
    p_wilcoxon: reader.numberOrNull("p_wilcoxon"),
    p_holm: reader.numberOrNull("p_holm"),
    days_until_decided: reader.numberOrNull("days_until_decided"),
    verdict: reader.text("verdict", ""),
  };
}

function readGap(reader: Reader): Gap {
  return {
    et_percent: reader.objectOrNull("et_percent", readInterval),
    energy_percent: reader.objectOrNull("energy_percent", readInterval),
    tardiness_percent: reader.objectOrNull("tardiness_percent", readInterval),
  };
}

function readBounds(reader: Reader): Bounds {
  return {
    days: reader.number("days"),
    et: reader.object("et", readInterval) ?? kNoInterval,
    energy_w_min: reader.object("energy_w_min", readInterval) ?? kNoInterval,
    mean_tardiness_s: reader.object("mean_tardiness_s", readInterval) ?? kNoInterval,
  };
}

function readDayPoint(reader: Reader): DayPoint {
  return {
    seed: reader.number("seed"),
    energy_w_min: reader.number("energy_w_min"),
    mean_tardiness_s: reader.number("mean_tardiness_s"),
    et: reader.number("et"),
  };
}

// Means that the page knows how to show; any may be missing.
export const kMeans = [
  "p50_tardiness_s",
  "p95_tardiness_s",
  "p99_tardiness_s",
  "max_tardiness_s",
  "mean_wait_s",
  "compute_utilisation",
  "memory_utilisation",
  "preemptions",
  "repartitions",
  "instances_created",
  "jobs",
] as const;

function readMeans(reader: Reader): Record<string, number> {
  const means: Record<string, number> = {};
  for (const key of kMeans) {
    const value = reader.numberOrNull(key);
    if (value !== null) means[key] = value;
  }
  return means;
}

function readExtra(reader: Reader): Record<string, Cell> {
  const found = reader.value.extra;
  if (!isObject(found)) return {};
  const cells = Object.entries(found).filter(
    (entry): entry is [string, Cell] =>
      entry[1] === null || ["number", "string"].includes(typeof entry[1]),
  );
  return Object.fromEntries(cells);
}

function readPolicy(reader: Reader): Policy {
  return {
    name: reader.text("name"),
    index: 0,
    scheduler: reader.text("scheduler", ""),
    repartition: reader.text("repartition", ""),
    days: reader.number("days"),
    et: reader.object("et", readInterval) ?? kNoInterval,
    energy_w_min: reader.object("energy_w_min", readInterval) ?? kNoInterval,
    mean_tardiness_s: reader.object("mean_tardiness_s", readInterval) ?? kNoInterval,
    energy_kwh: reader.numberOrNull("energy_kwh"),
    late_share: reader.numberOrNull("late_share"),
    et_energy_part: reader.number("et_energy_part"),
    et_tardiness_part: reader.number("et_tardiness_part"),
    diff: reader.objectOrNull("diff", readDifference),
    gap: reader.objectOrNull("gap", readGap),
    points: reader.list("points", readDayPoint, false),
    means: readMeans(reader),
    extra: readExtra(reader),
  };
}

function readSetting(reader: Reader): Setting {
  const setting = {
    name: reader.text("name"),
    reference: reader.text("reference", ""),
    days_min: reader.numberOrNull("days_min"),
    a: reader.numberOrNull("a"),
    bounds: reader.objectOrNull("bounds", readBounds),
    policies: reader.list("policies", readPolicy),
  };
  const known = setting.policies.map((policy) => policy.name);
  if (setting.reference !== "" && !known.includes(setting.reference)) {
    reader.problems.add(
      `${reader.path}.reference`,
      `one of ${known.join(", ")}`,
      setting.reference,
    );
  }
  return setting;
}

function readWeightRange(reader: Reader): WeightRange {
  return { from: reader.number("from"), to: reader.numberOrNull("to") };
}

function readParetoPoint(reader: Reader): ParetoPoint {
  return {
    setting: reader.text("setting"),
    policy: reader.text("policy"),
    a: reader.number("a"),
    energy_w_min: reader.number("energy_w_min"),
    mean_tardiness_s: reader.number("mean_tardiness_s"),
    best: reader.objectOrNull("best", readWeightRange),
  };
}

// Job ids are numbers in our own files and texts in some traces; on the page they are texts.
function idText(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}

function finiteOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function readJobs(reader: Reader): Job[] {
  const table = reader.columns("jobs", ["id", "class", "arrival_s", "deadline_s", "completion_s"]);
  const arrival = reader.numbers(table.arrival_s, "jobs.arrival_s");
  return table.id.map((id, i) => ({
    id: idText(id),
    class: typeof table.class[i] === "string" ? (table.class[i] as string) : "",
    arrival_s: arrival[i],
    deadline_s: finiteOrNull(table.deadline_s[i]),
    completion_s: finiteOrNull(table.completion_s[i]),
  }));
}

function readPieces(reader: Reader): Pieces {
  const table = reader.columns("pieces", [
    "job",
    "gpu",
    "start_slot",
    "slots",
    "profile",
    "begin_s",
    "end_s",
  ]);
  const whole = (name: string) => Int32Array.from(reader.numbers(table[name], `pieces.${name}`));
  return {
    job: table.job.map(idText),
    gpu: whole("gpu"),
    start_slot: whole("start_slot"),
    slots: whole("slots"),
    profile: table.profile.map(idText),
    begin_s: reader.numbers(table.begin_s, "pieces.begin_s"),
    end_s: reader.numbers(table.end_s, "pieces.end_s"),
  };
}

function readLayouts(reader: Reader): LayoutSpan[] {
  const table = reader.columns("layouts", ["gpu", "begin_s", "end_s", "layout"]);
  const gpu = reader.numbers(table.gpu, "layouts.gpu");
  const begin = reader.numbers(table.begin_s, "layouts.begin_s");
  const end = reader.numbers(table.end_s, "layouts.end_s");
  return table.layout.map((layout, i) => ({
    gpu: gpu[i],
    begin_s: begin[i],
    end_s: end[i],
    layout: idText(layout ?? ""),
  }));
}

// docs/reference/results.md names what a column holds, not always its key: the first known key is
// taken.
function knownKey(reader: Reader, table: string, keys: readonly string[]): string {
  const found = reader.value[table];
  const row = Array.isArray(found) ? found[0] : found;
  return keys.find((key) => isObject(row) && key in row) ?? keys[0];
}

function readSteps(reader: Reader, key: string, values: readonly string[]): Steps {
  const value = knownKey(reader, key, values);
  const table = reader.columns(key, ["time_s", value]);
  return {
    time_s: reader.numbers(table.time_s, `${key}.time_s`),
    value: reader.numbers(table[value], `${key}.${value}`),
  };
}

function readRates(reader: Reader): HourlyRate[] {
  if (reader.value.rates === undefined || reader.value.rates === null) return [];
  const value = knownKey(reader, "rates", ["jobs_per_hour", "jobs", "rate"]);
  const table = reader.columns("rates", ["hour", value]);
  const hour = reader.numbers(table.hour, "rates.hour");
  const jobs = reader.numbers(table[value], `rates.${value}`);
  return [...hour].map((value, i) => ({ hour: value, jobs: jobs[i] }));
}

function readWindow(reader: Reader): [number, number] | null {
  const found = reader.value.window_s;
  if (!Array.isArray(found) || found.length !== 2) return null;
  const [begin, end] = found.map(finiteOrNull);
  return begin === null || end === null ? null : [begin, end];
}

function readDay(reader: Reader): Day {
  return {
    setting: reader.text("setting", ""),
    policy: reader.text("policy", ""),
    seed: reader.numberOrNull("seed"),
    energy_j: reader.numberOrNull("energy_j"),
    mean_tardiness_s: reader.numberOrNull("mean_tardiness_s"),
    window_s: readWindow(reader),
    gpu: reader.text("gpu", ""),
    gpus: reader.number("gpus"),
    memory_slices: reader.number("memory_slices"),
    jobs: readJobs(reader),
    pieces: readPieces(reader),
    layouts: readLayouts(reader),
    power: readSteps(reader, "power", ["watts"]),
    queue: readSteps(reader, "queue", ["waiting", "waiting_jobs", "jobs"]),
    rates: readRates(reader),
  };
}

function readXyPoint(reader: Reader): XyPoint {
  return {
    x: reader.number("x"),
    y: reader.number("y"),
    low: reader.numberOrNull("low"),
    high: reader.numberOrNull("high"),
  };
}

function readXySeries(reader: Reader): XySeries {
  return { name: reader.text("name"), points: reader.list("points", readXyPoint) };
}

function readCells(reader: Reader): Cell[][] {
  const rows = reader.value.rows;
  if (!Array.isArray(rows) || !rows.every(Array.isArray)) {
    reader.problems.add(`${reader.path}.rows`, "a list of lists", rows);
    return [];
  }
  return rows as Cell[][];
}

function readColumnNames(reader: Reader): string[] {
  const names = reader.value.columns;
  if (Array.isArray(names)) return names.map(String);
  reader.problems.add(`${reader.path}.columns`, "a list of texts", names);
  return [];
}

function readFigure(reader: Reader): Figure | null {
  const title = reader.text("title");
  const note = reader.text("note", "");
  const kind = reader.text("kind");
  if (kind === "table") {
    return { kind, title, note, columns: readColumnNames(reader), rows: readCells(reader) };
  }
  if (kind === "xy") {
    return {
      kind,
      title,
      note,
      x_label: reader.text("x_label"),
      y_label: reader.text("y_label"),
      x_log: reader.flag("x_log"),
      y_log: reader.flag("y_log"),
      series: reader.list("series", readXySeries),
    };
  }
  reader.problems.add(`${reader.path}.kind`, '"table" or "xy"', kind);
  return null;
}

function numberPolicies(settings: Setting[]): Setting[] {
  const names = [...new Set(settings.flatMap(({ policies }) => policies.map(({ name }) => name)))];
  for (const { policies } of settings) {
    for (const policy of policies) policy.index = names.indexOf(policy.name);
  }
  return settings;
}

// One day, a list of them, or none.
function readDays(reader: Reader): Day[] {
  if (Array.isArray(reader.value.day)) return reader.list("day", readDay);
  const day = reader.objectOrNull("day", readDay);
  return day === null ? [] : [day];
}

export function readReport(json: unknown, problems: Problems): Report | null {
  if (!isObject(json)) {
    problems.add("the data", "an object", json);
    return null;
  }
  const reader = new Reader(json, "", problems);
  return {
    title: reader.text("title"),
    generated_by: reader.text("generated_by", ""),
    source: reader.text("source", ""),
    settings: numberPolicies(reader.list("settings", readSetting)),
    pareto: reader.list("pareto", readParetoPoint, false),
    days: readDays(reader),
    figures: reader.list("figures", readFigure, false).filter((figure) => figure !== null),
  };
}
