// A realistic report object for the tests and for looking at the page.
//   node sample.mjs OUT.html [PARTITA]   fills the built page with the sample
// With the binary the days are simulated; without it, or where it fails, they are drawn at random.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const kTemplate = join(root, "web", "report", "dist", "report.html");
export const kPartita = process.env.PARTITA ?? join(root, "build", "release", "src", "cli", "partita");
const kPlace = "__PARTITA_DATA__";

// As the program does it: in JSON "<" stands only inside strings, so no value changes.
export function fillPage(template, data) {
  return template.replace(kPlace, () => JSON.stringify(data).replaceAll("<", "\\u003c"));
}

export function randomStream(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// ---- statistics good enough for a sample; the program has its own

function interval(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance =
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const half = 2.1 * Math.sqrt(variance / values.length);
  return { mean, low: mean - half, high: mean + half };
}

function percentOf(runs, reference, key) {
  return interval(runs.map((run, i) => 100 * (run[key] / reference[i][key] - 1)));
}

function verdictOf({ low, high }) {
  return high < 0 ? "better" : low > 0 ? "worse" : "undecided";
}

function mean(runs, key) {
  return runs.reduce((sum, run) => sum + run[key], 0) / runs.length;
}

function policyRow(name, runs, reference) {
  const et = percentOf(runs, reference, "et");
  const own = runs === reference;
  return {
    name,
    scheduler: runs[0].scheduler,
    repartition: runs[0].repartition,
    days: runs.length,
    et: interval(runs.map((run) => run.et)),
    energy_w_min: interval(runs.map((run) => run.energy_w_min)),
    mean_tardiness_s: interval(runs.map((run) => run.mean_tardiness_s)),
    energy_kwh: (mean(runs, "energy_w_min") * 60) / 3.6e6,
    late_share: mean(runs, "late_share"),
    et_energy_part: mean(runs, "et_energy_part"),
    et_tardiness_part: mean(runs, "et_tardiness_part"),
    diff: own
      ? null
      : {
          et_percent: et,
          energy_percent: percentOf(runs, reference, "energy_w_min"),
          tardiness_percent: percentOf(runs, reference, "mean_tardiness_s"),
          et_day_percent: { ...et, least: et.low - 5, most: et.high + 5 },
          p_adjusted: et.low * et.high < 0 ? 0.31 : 0.0006,
          p_wilcoxon: 0.0001,
          p_holm: et.low * et.high < 0 ? 0.31 : 0.0006,
          verdict: verdictOf(et),
        },
    points: runs.map((run, i) => ({
      seed: 1000000 + i,
      energy_w_min: run.energy_w_min,
      mean_tardiness_s: run.mean_tardiness_s,
      et: run.et,
    })),
  };
}

const kReference = "cedf/static";
const kPolicies = [
  ["cedf/static", "cedf", "static:1,1,2,3,3,5,5,10"],
  ["cedf/tuned", "cedf", "static:1,2,2,2,2,2,6,10"],
  ["mdd/tuned", "mdd", "static:1,2,2,2,2,2,6,10"],
  ["edf-ss/twice", "edf-ss", "timetable:08:00=6,20:00=2"],
  ["cedf/twice", "cedf", "timetable:08:00=6,20:00=2"],
  ["atc/static", "atc", "static:1,1,2,3,3,5,5,10"],
  ["cedf/whole", "cedf", "none"],
];

// A bound somewhat below the best policy, and the gaps to it.
function addBounds(setting) {
  const least = (key) => 0.8 * Math.min(...setting.policies.map((policy) => policy[key].mean));
  const around = (mean) => ({ mean, low: 0.98 * mean, high: 1.02 * mean });
  setting.bounds = {
    days: setting.policies[0].days,
    et: around(least("et")),
    energy_w_min: around(least("energy_w_min")),
    mean_tardiness_s: around(least("mean_tardiness_s")),
  };
  for (const policy of setting.policies) {
    const above = (key) => around(100 * (policy[key].mean / setting.bounds[key].mean - 1));
    policy.gap = {
      et_percent: above("et"),
      energy_percent: above("energy_w_min"),
      tardiness_percent: above("mean_tardiness_s"),
    };
  }
  return setting;
}

export function settingRow(name, table) {
  const reference = table.get(kReference);
  return addBounds({
    name,
    reference: kReference,
    policies: [...table].map(([policy, runs]) => policyRow(policy, runs, reference)),
  });
}

// As if each policy were tuned again for each weight: less energy for more lateness.
export function paretoOf(setting) {
  const weights = [2e-8, 5e-8, 1e-7, 2e-7, 5e-7, 1e-6, 2e-6];
  return setting.policies
    .filter(({ name }) => name !== "cedf/whole")
    .flatMap((policy) =>
      weights.map((a, i) => ({
        setting: setting.name,
        policy: policy.name,
        a,
        energy_w_min: policy.energy_w_min.mean * (1.05 - 0.018 * i),
        mean_tardiness_s: policy.mean_tardiness_s.mean * 0.72 * 1.16 ** i,
      })),
    );
}

// ---- with the binary

function run(partita, args) {
  return execFileSync(partita, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function readCsv(path) {
  const [header, ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const names = header.split(",");
  return lines.map((line) => {
    const cells = [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map(
      (match) => match[2] ?? match[1],
    );
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  });
}

function simulateSetting(partita, rate, days) {
  const table = new Map();
  for (const [name, scheduler, repartition] of kPolicies) {
    table.set(
      name,
      Array.from({ length: days }, (_, i) =>
        JSON.parse(
          run(partita, [
            "simulate",
            "--kind",
            "papers",
            "--hours",
            "24",
            "--rate",
            String(rate),
            "--deadline",
            "1.0:1.5",
            "--gpus",
            "8",
            "--scheduler",
            scheduler,
            "--repartition",
            repartition,
            "--seed",
            String(1000000 + i),
            "--json",
          ]),
        ),
      ),
    );
  }
  return table;
}

const kWatts = [40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5];

// A step function from changes [time, by], with equal times joined.
function stepsOf(changes, first, column, value = (total) => total) {
  changes.sort((a, b) => a[0] - b[0]);
  const out = { time_s: [0], [column]: [value(first)] };
  let total = first;
  changes.forEach(([time, by], i) => {
    total += by;
    if (changes[i + 1]?.[0] === time) return;
    out.time_s.push(time);
    out[column].push(value(total));
  });
  return out;
}

export function powerOf(pieces, gpus) {
  const busy = new Array(gpus).fill(0);
  const changes = pieces
    .flatMap((piece) => {
      const slices = Number.parseInt(piece.profile, 10);
      return [
        [piece.begin_s, piece.gpu, slices],
        [piece.end_s, piece.gpu, -slices],
      ];
    })
    .sort((a, b) => a[0] - b[0]);
  const watts = changes.map(([time, gpu, by]) => {
    const before = kWatts[Math.max(0, Math.min(7, busy[gpu]))];
    busy[gpu] += by;
    return [time, kWatts[Math.max(0, Math.min(7, busy[gpu]))] - before];
  });
  return stepsOf(watts, gpus * kWatts[0], "watts");
}

export function queueOf(jobs, pieces) {
  const changes = jobs.flatMap((job) => [
    [job.arrival_s, 1],
    [job.completion_s, -1],
  ]);
  for (const piece of pieces) changes.push([piece.begin_s, -1], [piece.end_s, 1]);
  return stepsOf(changes, 0, "waiting", (total) => Math.max(0, total));
}

function slotsOf(partita) {
  const model = JSON.parse(run(partita, ["gpus", "--json"])).find(({ gpu }) => gpu === "a100-40gb");
  return new Map(model.profiles.map((profile) => [profile.name, profile.memory_slices]));
}

function columnsOf(rows, names) {
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
}

const kPieceColumns = ["job", "gpu", "start_slot", "slots", "profile", "begin_s", "end_s"];

const kTimetable = `timetable:${[
  "00:00=1,2,2,2,2,2,6,10",
  "06:30=2,2,2,6,6,6,10,10",
  "09:00=6,6,6,6,8,10,10,10",
  "18:00=2,2,2,2,6,6,6,10",
  "21:00=1,2,2,2,2,2,6,10",
].join(",")}`;

function simulateDay(partita, folder) {
  const file = (name) => join(folder, name);
  run(partita, [
    "generate",
    "--hours",
    "24",
    "--rate",
    "20",
    "--deadline",
    "1.0:1.5",
    "--seed",
    "7",
    "--out",
    file("jobs.csv"),
  ]);
  run(partita, [
    "simulate",
    "--jobs",
    file("jobs.csv"),
    "--gpus",
    "8",
    "--scheduler",
    "cedf",
    "--repartition",
    kTimetable,
    "--schedule",
    file("schedule.csv"),
    "--layouts",
    file("layouts.csv"),
    "--job-records",
    file("records.csv"),
    "--json",
  ]);
  const slots = slotsOf(partita);
  const pieces = readCsv(file("schedule.csv")).map((row) => ({
    job: Number(row.job),
    gpu: Number(row.gpu),
    start_slot: Number(row.start_slot),
    slots: slots.get(row.profile) ?? 1,
    profile: row.profile,
    begin_s: Number(row.begin_s),
    end_s: Number(row.end_s),
  }));
  const jobs = jobsOf(readCsv(file("jobs.csv")), pieces);
  return dayObject(
    "cedf, timetable of five",
    jobs,
    pieces,
    readCsv(file("layouts.csv")).map((row) => ({
      gpu: Number(row.gpu),
      begin_s: Number(row.begin_s),
      end_s: Number(row.end_s),
      layout: row.layout,
    })),
  );
}

function jobsOf(rows, pieces) {
  const completion = new Map();
  for (const piece of pieces) {
    completion.set(piece.job, Math.max(completion.get(piece.job) ?? 0, piece.end_s));
  }
  return rows.map((row) => ({
    id: Number(row.id),
    class: row.class,
    arrival_s: Number(row.arrival_s),
    deadline_s: Number(row.deadline_s),
    completion_s: completion.get(Number(row.id)),
  }));
}

export function dayObject(policy, jobs, pieces, layouts) {
  const hours = new Array(24).fill(0);
  for (const job of jobs) ++hours[Math.min(23, Math.floor(job.arrival_s / 3600))];
  return {
    policy,
    gpu: "a100-40gb",
    gpus: 8,
    memory_slices: 8,
    jobs,
    pieces: columnsOf(pieces, kPieceColumns),
    layouts,
    power: powerOf(pieces, 8),
    queue: queueOf(jobs, pieces),
    rates: hours.map((jobs_per_hour, hour) => ({
      hour,
      jobs_per_hour: Math.round(
        (hours[(hour + 23) % 24] + 2 * jobs_per_hour + hours[(hour + 1) % 24]) / 4,
      ),
    })),
  };
}

// ---- without the binary

export function syntheticSetting(days, seed) {
  const next = randomStream(seed);
  const means = [
    [2.51e6, 98],
    [2.42e6, 70],
    [2.46e6, 66],
    [2.6e6, 130],
    [2.55e6, 118],
    [2.53e6, 99],
    [3.1e6, 5800],
  ];
  const noise = Array.from({ length: days }, () => 0.9 + 0.2 * next());
  return new Map(
    kPolicies.map(([name, scheduler, repartition], p) => [
      name,
      noise.map((factor) => {
        const energy_w_min = means[p][0] * (0.98 + 0.03 * factor * next());
        const mean_tardiness_s = means[p][1] * factor * (0.95 + 0.1 * next());
        const et_energy_part = 2e-7 * energy_w_min;
        const et_tardiness_part = mean_tardiness_s / 60;
        return {
          scheduler,
          repartition,
          energy_w_min,
          mean_tardiness_s,
          et_energy_part,
          et_tardiness_part,
          et: et_energy_part + et_tardiness_part,
          late_share: 0.5,
        };
      }),
    ]),
  );
}

const kTwoLayouts = ["4g.20gb:0,3g.20gb:4", "2g.10gb:0,2g.10gb:2,3g.20gb:4"];
const kSlices = [
  [
    [0, 4, "4g.20gb"],
    [4, 4, "3g.20gb"],
  ],
  [
    [0, 2, "2g.10gb"],
    [2, 2, "2g.10gb"],
    [4, 4, "3g.20gb"],
  ],
];

// `count` pieces, back to back with short gaps, on eight GPUs of alternating layouts.
export function syntheticDay(count, seed) {
  const next = randomStream(seed);
  const slices = Array.from({ length: 8 }, (_, gpu) =>
    kSlices[gpu % 2].map(([at, slots, profile]) => ({ gpu, start_slot: at, slots, profile })),
  ).flat();
  const each = Math.ceil(count / slices.length);
  const pieces = [];
  for (const slice of slices) {
    let time = 0;
    for (let i = 0; i < each && pieces.length < count; ++i) {
      const begin_s = time + (next() * 20000) / each;
      time = begin_s + 0.001 + (next() * 2 * 66000) / each;
      pieces.push({ job: pieces.length + 1, ...slice, begin_s, end_s: time });
    }
  }
  const classes = ["bert-inference", "resnet-inference", "bert-training", "resnet-training"];
  const jobs = pieces.map((piece) => ({
    id: piece.job,
    class: classes[Math.floor(next() * 4)],
    arrival_s: Math.max(0, piece.begin_s - 300 * next() ** 3),
    deadline_s: piece.end_s + 60 * (next() - 0.4),
    completion_s: piece.end_s,
  }));
  const end_s = pieces.reduce((most, piece) => Math.max(most, piece.end_s), 0);
  const layouts = Array.from({ length: 8 }, (_, gpu) => ({
    gpu,
    begin_s: 0,
    end_s,
    layout: kTwoLayouts[gpu % 2],
  }));
  return dayObject("synthetic", jobs, pieces, layouts);
}

// ---- the whole object

export const kFigures = [
  {
    title: "Does it survive?",
    kind: "table",
    note: "ET against the tuned static mix when one thing changes. (Sample values.)",
    columns: ["what changes", "ET, %", "low", "high", "verdict"],
    rows: [
      ["nothing", -22.1, -24.0, -20.2, "better"],
      ["power +20 %", -21.7, -23.5, -19.8, "better"],
      ["estimates off by 100 %", -3.1, -6.4, 0.3, "undecided"],
    ],
  },
  {
    title: "How many GPUs",
    kind: "xy",
    note: "Mean tardiness as GPUs are added. (Sample values.)",
    x_label: "GPUs",
    y_label: "mean tardiness, minutes",
    y_log: true,
    series: [
      {
        name: "cedf/tuned",
        points: [6, 7, 8, 9, 10, 12].map((x, i) => ({
          x,
          y: 60 / 3.2 ** i,
          low: 54 / 3.2 ** i,
          high: 66 / 3.2 ** i,
        })),
      },
    ],
  },
];

export function syntheticReport(pieces = 4000) {
  const setting = settingRow("rate=20", syntheticSetting(20, 5));
  return {
    title: "SMART-MIG, eight A100, rate 20",
    generated_by: "partita (sample data)",
    settings: [setting],
    pareto: paretoOf(setting),
    day: syntheticDay(pieces, 11),
    figures: kFigures,
  };
}

export function realReport(partita, days) {
  const folder = mkdtempSync(join(tmpdir(), "partita-sample-"));
  try {
    const settings = [20, 16, 12].map((rate) =>
      settingRow(`rate=${rate}`, simulateSetting(partita, rate, days)),
    );
    return {
      title: "Eight A100, a day of the papers",
      generated_by: "partita, 12 held-out days (sample)",
      settings,
      pareto: settings.flatMap(paretoOf),
      day: simulateDay(partita, folder),
      figures: kFigures,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function sampleReport(partita = kPartita) {
  if (!existsSync(partita)) return syntheticReport();
  try {
    return realReport(partita, 12);
  } catch (error) {
    console.error(`sample: ${partita} failed, using synthetic data: ${error.message}`);
    return syntheticReport();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [out, partita] = process.argv.slice(2);
  if (!out) throw new Error("usage: node sample.mjs OUT.html [PARTITA]");
  const data = sampleReport(partita);
  writeFileSync(out, fillPage(readFileSync(kTemplate, "utf8"), data));
  console.log(`${out}: ${data.day.pieces.job.length} pieces`);
}
