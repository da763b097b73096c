// The functions behind the charts, without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { syntheticDay, syntheticReport } from "./sample.mjs";

const pure = await import("../../web/report/dist/pure.mjs");

function read(data) {
  const problems = new pure.Problems();
  return { report: pure.readReport(data, problems), problems: problems.list };
}

test("CSV quotes commas, quotes and line ends", () => {
  assert.equal(
    pure.csvText(
      ["a", "b"],
      [
        ["x,y", 'say "no"'],
        ["two\nlines", null],
      ],
    ),
    'a,b\n"x,y","say ""no"""\n"two\nlines",\n',
  );
});

test("CSV keeps negative numbers and disarms texts that a spreadsheet would run", () => {
  assert.equal(
    pure.csvText(["a"], [[-1.5], ["=1+1"], ["@x"], ["-2+3"]]),
    "a\n-1.5\n'=1+1\n'@x\n'-2+3\n",
  );
});

test("times of day mark the days after the first", () => {
  assert.equal(pure.clock(3723.9), "01:02:03");
  assert.equal(pure.clock(86400 + 60, false), "00:01 (+1 d)");
  assert.equal(pure.duration(12.34), "12.3 s");
  assert.equal(pure.duration(3725), "1 h 2 min");
});

test("ticks of time are round and inside the window", () => {
  assert.deepEqual(
    pure.timeTicks(0, 86400, 8),
    [0, 10800, 21600, 32400, 43200, 54000, 64800, 75600, 86400],
  );
  assert.deepEqual(pure.timeTicks(100, 160, 6), [100, 110, 120, 130, 140, 150, 160]);
});

test("percentages have a sign and no negative zero", () => {
  assert.equal(pure.percent(-21.53), "−21.5\u00a0%");
  assert.equal(pure.percent(0.3), "+0.3\u00a0%");
  assert.equal(pure.fixed(-0.001, 1), "0.0");
});

test("ticks keep the zeros before the point", () => {
  assert.deepEqual([100, 20, 1.5, 0.2, 3000].map(pure.plain), ["100", "20", "1.5", "0.2", "3000"]);
});

test("buckets weigh a step function by time", () => {
  const steps = { time_s: Float64Array.of(0, 10, 15), value: Float64Array.of(2, 6, 0) };
  assert.deepEqual(pure.bucketSteps(steps, 0, 20, 2), [
    { begin_s: 0, end_s: 10, mean: 2, min: 2, max: 2 },
    { begin_s: 10, end_s: 20, mean: 3, min: 0, max: 6 },
  ]);
});

test("buckets together have the area of the whole", () => {
  const [day] = read(syntheticReport(2000)).report.days;
  const whole = pure.bucketSteps(day.power, 0, 86400, 1)[0].mean;
  const parts = pure.bucketSteps(day.power, 0, 86400, 97);
  const mean = parts.reduce((sum, part) => sum + part.mean, 0) / parts.length;
  assert.ok(Math.abs(mean / whole - 1) < 1e-9);
});

test("a layout's mix does not depend on where its slices lie", () => {
  assert.equal(pure.mixOfLayout("2g.10gb:0,2g.10gb:2,3g.20gb:4"), "3g + 2×2g");
  assert.equal(pure.mixOfLayout("7g.40gb:0"), "7g");
  assert.equal(pure.mixOfLayout(""), "no slices");
  assert.equal(pure.mixOfLayout("whole GPU"), "whole GPU");
});

test("shares of layouts add up to the GPUs at all times", () => {
  const layouts = [
    { gpu: 0, begin_s: 0, end_s: 450, layout: "7g.40gb:0" },
    { gpu: 0, begin_s: 450, end_s: 1000, layout: "4g.20gb:0,3g.20gb:4" },
    { gpu: 1, begin_s: 0, end_s: 1000, layout: "7g.40gb:0" },
  ];
  const shares = pure.layoutShares(layouts, 1000, 300, 7);
  assert.deepEqual(shares.mixes, ["7g", "4g + 3g"]);
  assert.deepEqual(
    shares.bins.map((bin) => bin.gpus),
    [
      [2, 0],
      [1.5, 0.5],
      [1, 1],
      [1, 1],
    ],
  );
  for (const piece of pure.stackPieces(shares)) assert.ok(piece.to > piece.from);
});

test("layouts seen for moments only are counted as changing", () => {
  const layouts = [
    { gpu: 0, begin_s: 0, end_s: 9999, layout: "7g.40gb:0" },
    { gpu: 0, begin_s: 9999, end_s: 10000, layout: "3g.20gb:4" },
  ];
  assert.deepEqual(pure.layoutShares(layouts, 10000, 300, 7).mixes, ["7g", "changing or other"]);
});

test("the distribution function ends at one and joins equal values", () => {
  const points = pure.ecdf([0, 5, 0, 1]);
  assert.deepEqual(points, [
    { value: 0, share: 0.5 },
    { value: 1, share: 0.75 },
    { value: 5, share: 1 },
  ]);
  assert.equal(pure.quantile(points, 0.5), 0);
  assert.equal(pure.quantile(points, 0.95), 5);
});

test("the front holds what nothing beats in both", () => {
  const points = [
    [3, 1],
    [1, 3],
    [2, 2],
    [2.5, 2.5],
    [1, 4],
  ];
  assert.deepEqual(
    pure.paretoFront(
      points,
      (p) => p[0],
      (p) => p[1],
    ),
    [
      [1, 3],
      [2, 2],
      [3, 1],
    ],
  );
});

test("curves of equal ET lie where a times energy plus tardiness is that ET", () => {
  for (const { et, points } of pure.etLines(2e-7, [1.5, 2], [0.5, 3], [2, 3])) {
    for (const { x, y } of points) assert.ok(Math.abs(2e-7 * y * 1e6 + x - et) < 1e-9);
  }
});

test("labels do not overlap", () => {
  const points = Array.from({ length: 9 }, (_, i) => ({
    text: `policy ${i}`,
    x: 100 + i,
    y: 100 + 3 * i,
  }));
  const labels = pure.placeLabels(points, [], 600, 400);
  labels.forEach((a, i) =>
    labels.slice(i + 1).forEach((b) => {
      assert.ok(Math.abs(a.y - b.y) >= 13 || Math.abs(a.x - b.x) >= 10, `${a.text} and ${b.text}`);
    }),
  );
});

test("the sentence says when a difference is not decided", () => {
  const { report } = read(syntheticReport(100));
  const setting = report.settings[0];
  assert.match(pure.summary(setting), /has the lowest ET.*below cedf\/static \(95 % interval/);
  const best = pure.byEt(setting.policies)[0];
  best.diff.et_percent = { mean: -1, low: -3, high: 1 };
  assert.match(pure.summary(setting), /is not decided/);
});

test("the sentence says when there are too few days for so many policies", () => {
  const { report } = read(syntheticReport(100));
  const setting = report.settings[0];
  const best = pure.byEt(setting.policies)[0];
  best.diff.et_percent = { mean: -20, low: null, high: null };
  best.days = 5;
  setting.days_min = 9;
  const policies = setting.policies.length;
  assert.match(
    pure.summary(setting),
    new RegExp(`5 days are too few to decide among ${policies} policies: at least 9 days`),
  );
  setting.days_min = 5;
  assert.doesNotMatch(pure.summary(setting), /too few/);
});

test("the days' own ratios and the value of p that decides are in the CSV", () => {
  const { report, problems } = read(syntheticReport(100));
  assert.deepEqual(problems, []);
  const [header, ...rows] = pure.headlineCsv(report.settings[0]).split("\n");
  const at = header.split(",").indexOf("et_day_percent");
  assert.equal(header.split(",")[at + 3], "p_adjusted");
  const tuned = rows.find((row) => row.includes("cedf/tuned"));
  assert.match(tuned, /,0\.0006,0\.0001,0\.0006,(better|worse)/);
});

test("gaps to the bound stand in the sentence and in the CSV, and only where there are bounds", () => {
  const data = syntheticReport();
  const { report, problems } = read(data);
  assert.deepEqual(problems, []);
  const setting = report.settings[0];
  assert.match(pure.boundText(setting), /No schedule.* has an ET below \d.*at most \d+\u00a0% of /);
  const [header, first] = pure.headlineCsv(setting).split("\n");
  assert.match(header, /,et_gap_percent,et_gap_percent_low,et_gap_percent_high,energy_gap_percent,/);
  assert.equal(first.split(",").length >= header.split(",").length, true);
  setting.bounds = null;
  assert.equal(pure.boundText(setting), "");
  assert.doesNotMatch(pure.headlineCsv(setting), /gap_percent/);
});

test("verdicts are recognised by their words", () => {
  const policy = (verdict) => ({ name: "x", diff: { verdict } });
  assert.equal(pure.verdictKind(policy("clearly better"), "r"), "better");
  assert.equal(pure.verdictKind(policy("Worse"), "r"), "worse");
  assert.equal(pure.verdictKind(policy("undecided"), "r"), "undecided");
  assert.equal(pure.verdictKind({ name: "r", diff: null }, "r"), "reference");
});

test("arrow keys walk along a series and over to the next", () => {
  const series = [0, 1].map((s) => ({
    colour: "",
    points: [0, 10, 20].map((x) => ({ x: x + s, y: s, text: "" })),
  }));
  let place = pure.moved(series, null, "ArrowRight", false);
  assert.deepEqual(place, { series: 0, point: 0 });
  place = pure.moved(series, place, "ArrowRight", false);
  place = pure.moved(series, place, "ArrowDown", false);
  assert.deepEqual(place, { series: 1, point: 1 });
  assert.deepEqual(pure.moved(series, place, "End", false), { series: 1, point: 2 });
  assert.deepEqual(pure.nearest(series, 19, 0), { series: 0, point: 2 });
});

// ---- Gantt model

test("the piece under a point is the one that a search through all pieces finds", () => {
  const [day] = read(syntheticReport(3000)).report.days;
  const model = pure.ganttModel(day);
  const { pieces } = day;
  for (let i = 0; i < 500; ++i) {
    const lane = (i * 37) % model.lanes;
    const time = (i * 173.7) % 86400;
    const [gpu, slot] = [Math.floor(lane / 8), lane % 8];
    const expected = pieces.job.findIndex(
      (_, p) =>
        pieces.gpu[p] === gpu &&
        slot >= pieces.start_slot[p] &&
        slot < pieces.start_slot[p] + pieces.slots[p] &&
        pieces.begin_s[p] <= time &&
        time < pieces.end_s[p],
    );
    assert.equal(pure.pieceAt(model, lane, time, 0) ?? -1, expected);
  }
});

test("the overview is as opaque as the lane is busy", () => {
  const [day] = read(syntheticReport(3000)).report.days;
  const model = pure.ganttModel(day);
  const width = 200;
  const out = new Uint8ClampedArray(4 * width);
  pure.rasterLane(
    model,
    0,
    0,
    width / 86400,
    width,
    pure.categorise(model, "class").of,
    [
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ],
    new Float32Array(4 * width),
    out,
    0,
  );
  let busy = 0;
  for (let x = 0; x < width; ++x) busy += out[4 * x + 3] / 255 / width;
  let expected = 0;
  day.pieces.job.forEach((_, p) => {
    if (day.pieces.gpu[p] !== 0 || day.pieces.start_slot[p] !== 0) return;
    expected += (Math.min(86400, day.pieces.end_s[p]) - day.pieces.begin_s[p]) / 86400;
  });
  assert.ok(Math.abs(busy - expected) < 0.01, `${busy} and ${expected}`);
});

// ---- the choice behind the weight

test("weights are said as ranges and as prices", () => {
  assert.equal(pure.rangeText({ from: 0, to: null }), "any");
  assert.equal(pure.rangeText({ from: 0, to: 2e-6 }), "below 2e−6");
  assert.equal(pure.rangeText({ from: 2e-6, to: null }), "above 2e−6");
  assert.equal(pure.priceText({ from: 2e-7, to: 2e-6 }), "8.33 kWh to 83.3 kWh");
});

test("one hopeless policy does not press the front into a corner", () => {
  const point = (policy, energy, tardiness) => ({
    policy,
    energy_w_min: energy,
    mean_tardiness_s: tardiness,
  });
  const all = [point("a", 2.5e6, 60), point("b", 2.4e6, 120), point("awful", 3e6, 6000)];
  assert.deepEqual(
    pure.nearFront(all).map(({ policy }) => policy),
    ["a", "b"],
  );
});

// ---- reading

test("the sample is a valid report", () => {
  const { report, problems } = read(syntheticReport(500));
  assert.deepEqual(problems, []);
  assert.equal(report.days[0].pieces.job.length, 500);
});

test("tables as lists of objects and as columns are the same", () => {
  const data = syntheticReport(50);
  const { pieces } = data.day;
  const rows = pieces.job.map((_, i) =>
    Object.fromEntries(Object.entries(pieces).map(([name, column]) => [name, column[i]])),
  );
  const other = structuredClone(data);
  other.day.pieces = rows;
  assert.deepEqual(read(other).report.days[0].pieces, read(data).report.days[0].pieces);
});

test("one day, several days and none are all lists of days", () => {
  const data = syntheticReport(50);
  assert.equal(read(data).report.days.length, 1);
  assert.equal(read({ ...data, day: [data.day, data.day] }).report.days.length, 2);
  assert.equal(read({ ...data, day: null }).report.days.length, 0);
});

test("a part of a run ends where it is cut, and counts only its own arrivals", () => {
  const data = syntheticReport(50);
  data.day.window_s = [86400, 172800];
  data.day.jobs[0].arrival_s = -7200;
  data.day.jobs[1].completion_s = 1e6;
  const [day] = read(data).report.days;
  assert.equal(pure.dayEnd_s(day), 86400);
  const arrivals = pure.arrivalsPerHour(day.jobs);
  assert.equal(
    arrivals.reduce((sum, jobs) => sum + jobs, 0),
    day.jobs.length - 1,
  );
});

test("a policy has one colour in all settings", () => {
  const data = syntheticReport(50);
  const other = structuredClone(data.settings[0]);
  other.name = "other";
  other.policies.reverse().pop();
  other.reference = "";
  data.settings.push(other);
  const [first, second] = read(data).report.settings;
  for (const { name, index } of second.policies) {
    assert.equal(index, first.policies.find((policy) => policy.name === name).index);
  }
});

test("problems are named by their path", () => {
  const data = syntheticReport(50);
  delete data.settings[0].policies[1].et;
  data.settings[0].policies[2].energy_w_min.mean = "much";
  data.day.pieces.begin_s[3] = null;
  assert.deepEqual(read(data).problems, [
    "settings[0].policies[1].et: wanted an object, found nothing",
    'settings[0].policies[2].energy_w_min.mean: wanted a number, found "much"',
    "day.pieces.begin_s row 3: wanted a number, found null",
  ]);
});

test("a reference that is no policy is a problem", () => {
  const data = syntheticReport(50);
  data.settings[0].reference = "nobody";
  assert.match(read(data).problems[0], /^settings\[0\]\.reference: wanted one of /);
});

test("what is no object at all is refused", () => {
  for (const data of [null, [], 3, "x"]) assert.equal(read(data).report, null);
});

test("columns of different lengths are refused", () => {
  const data = syntheticReport(50);
  data.day.pieces.job.pop();
  assert.match(read(data).problems[0], /day\.pieces: wanted columns of one length/);
});

test("the example in docs/reference/report.md is a valid report", () => {
  const text = readFileSync(new URL("../../docs/reference/report.md", import.meta.url), "utf8");
  const example = /```json\n([\s\S]*?)```/.exec(text)[1];
  assert.deepEqual(read(JSON.parse(example)).problems, []);
});

test("every package runs on the node of Debian 12, which is 18", () => {
  const path = new URL("../../web/report/package-lock.json", import.meta.url);
  for (const [name, { engines }] of Object.entries(JSON.parse(readFileSync(path)).packages)) {
    const least = /^>=\s*(\d+)/.exec(engines?.node ?? "")?.[1] ?? "0";
    assert.ok(Number(least) <= 18, `${name} wants node ${engines?.node}`);
  }
});

test("the lock file names no host", () => {
  const text = readFileSync(new URL("../../web/report/package-lock.json", import.meta.url), "utf8");
  assert.doesNotMatch(text, /"resolved"/);
});

test("a large synthetic day has the pieces asked for", () => {
  assert.equal(syntheticDay(100000, 3).pieces.job.length, 100000);
});
