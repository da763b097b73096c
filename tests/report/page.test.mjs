// The page in headless Chromium: drawn, quiet, usable with the keyboard, and safe.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { canvasColours, csvOf, drawn, launch, openPage } from "./browser.mjs";
import { fillPage, kTemplate, sampleReport, syntheticReport } from "./sample.mjs";

const kCharts = ["scatter", "pareto", "layouts", "queue", "power", "tardiness"];
// Set to a folder to keep pictures of the page.
const kPictures = process.env.PARTITA_REPORT_PICTURES ?? "";

let browser;
let folder;
let sampleFile;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "partita-page-"));
  browser = await launch();
  sampleFile = written("sample", sampleReport());
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

function written(name, data) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, fillPage(readFileSync(kTemplate, "utf8"), data));
  return path;
}

function open(path, options) {
  return openPage(browser, path, options);
}

async function picture(page, name) {
  if (kPictures) await page.screenshot({ path: join(kPictures, `${name}.png`), fullPage: true });
}

function ganttWindow(page) {
  return page.$eval("#gantt .stage", (stage) => stage.dataset.window.split(" ").map(Number));
}

for (const colorScheme of ["light", "dark"]) {
  test(`every chart is drawn without a complaint (${colorScheme})`, async () => {
    const { page, complaints, close } = await open(sampleFile, { colorScheme });
    await drawn(page);
    for (const id of kCharts) {
      const marks = await page.$$eval(
        `#${id} svg :is(path, circle, rect, line)`,
        (all) => all.length,
      );
      assert.ok(marks > 10, `${id} has ${marks} marks`);
    }
    assert.ok((await canvasColours(page)) > 10);
    const rows = await page.$$eval("#headline tbody tr", (all) => all.length);
    assert.ok(rows >= 5);
    await picture(page, colorScheme);
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("no mark reaches out of its chart", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  for (const id of kCharts) {
    const outside = await page.$eval(`#${id}`, (figure) => {
      const frame = figure.getBoundingClientRect();
      return [...figure.querySelectorAll("svg *")].filter((mark) => {
        const box = mark.getBoundingClientRect();
        if (box.width === 0 && box.height === 0) return false;
        return (
          box.left < frame.left ||
          box.right > frame.right + 1 ||
          box.top < frame.top ||
          box.bottom > frame.bottom
        );
      }).length;
    });
    assert.equal(outside, 0, id);
  }
  await close();
});

test("text has a contrast of at least 4.5 to 1, marks of 3 to 1, in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await open(sampleFile, { colorScheme });
    const low = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const luminance = (name) => {
        const hex = style.getPropertyValue(name).trim().slice(1);
        const [r, g, b] = [0, 2, 4]
          .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
          .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (a, b) => {
        const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
        return (light + 0.05) / (dark + 0.05);
      };
      const texts = ["--ink", "--ink-2", "--ink-3", "--good", "--bad", "--accent-text"];
      const marks = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => `--c${i}`);
      return [
        ...texts.flatMap((text) => ["--paper", "--page"].map((ground) => [text, ground, 4.5])),
        ...marks.map((mark) => [mark, "--paper", 3]),
      ]
        .filter(([a, b, least]) => contrast(a, b) < least)
        .map((row) => row.join(" "));
    });
    assert.deepEqual(low, [], colorScheme);
    await close();
  }
});

test("a phone 390 pixels wide does not scroll sideways", async () => {
  const { page, complaints, close } = await open(sampleFile, {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    hasTouch: true,
    isMobile: true,
  });
  await drawn(page);
  const [content, view] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.equal(content, view);
  await picture(page, "phone");
  assert.deepEqual(complaints, []);
  await close();
});

test("drawing moves nothing on the page", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(pathToFileURL(sampleFile).href);
  await drawn(page);
  await page.hover("#scatter .stage");
  await page.waitForTimeout(300);
  assert.ok((await page.evaluate(() => window.shift)) < 0.01);
  await context.close();
});

test("the keyboard zooms, pans, picks a job and resets the Gantt chart", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  const whole = await ganttWindow(page);
  await page.focus("#gantt .stage");
  const press = async (key) => {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
    return ganttWindow(page);
  };
  const zoomed = await press("ArrowUp");
  assert.ok(zoomed[1] - zoomed[0] < 0.7 * (whole[1] - whole[0]));
  const panned = await press("ArrowRight");
  assert.ok(panned[0] > zoomed[0]);
  const back = await press("ArrowLeft");
  assert.ok(Math.abs(back[0] - zoomed[0]) < 1);
  for (let i = 0; i < 8; ++i) await press("+");
  await press("Enter");
  const job = await page.textContent("#gantt .facts dd");
  assert.notEqual(job, "–");
  await press("n");
  assert.notEqual(await page.textContent("#gantt .facts"), "");
  if (kPictures)
    await page.locator("#gantt").screenshot({ path: join(kPictures, "gantt_zoomed.png") });
  assert.deepEqual(await press("Escape"), whole);
  await close();
});

test("queue and power follow the window of the Gantt chart", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  const ticks = () => page.textContent("#power svg [aria-label='x-axis tick label']");
  const before_ = await ticks();
  await page.click("#gantt button[aria-label='Zoom in']");
  await page.waitForTimeout(300);
  assert.notEqual(await ticks(), before_);
  await close();
});

test("the pointer names the job; the wheel zooms after a click, and not before", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  const canvas = page.locator("#gantt canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const whole = await ganttWindow(page);
  await page.mouse.move(box.x + box.width / 2, box.y + 8);
  await page.mouse.wheel(0, -10);
  await page.waitForTimeout(100);
  assert.deepEqual(await ganttWindow(page), whole);
  const tip = await page.textContent("#gantt .tip");
  for (const word of ["Job", "Class", "Slice", "Begin", "End", "Deadline", "Late by"]) {
    assert.ok(tip.includes(word), word);
  }
  const now = await canvas.boundingBox();
  await page.mouse.click(now.x + now.width / 2, now.y + 8);
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(100);
  const zoomed = await ganttWindow(page);
  assert.ok(zoomed[1] - zoomed[0] < 0.7 * (whole[1] - whole[0]));
  await close();
});

test("two fingers pinch the Gantt chart", async () => {
  const { page, close } = await open(sampleFile, { hasTouch: true });
  await drawn(page);
  const whole = await ganttWindow(page);
  await page.$eval("#gantt canvas", (canvas) => {
    canvas.setPointerCapture = () => {};
    const box = canvas.getBoundingClientRect();
    const send = (type, id, x) =>
      canvas.dispatchEvent(
        new PointerEvent(type, {
          pointerId: id,
          pointerType: "touch",
          bubbles: true,
          clientX: box.left + x,
          clientY: box.top + 40,
        }),
      );
    send("pointerdown", 1, 400);
    send("pointerdown", 2, 500);
    for (let x = 510; x <= 700; x += 10) send("pointermove", 2, x);
    send("pointerup", 1, 400);
    send("pointerup", 2, 700);
  });
  await page.waitForTimeout(100);
  const zoomed = await ganttWindow(page);
  assert.ok(zoomed[1] - zoomed[0] < 0.5 * (whole[1] - whole[0]));
  await close();
});

test("arrow keys read the values of every chart and Escape ends it", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  for (const id of kCharts) {
    await page.focus(`#${id} .stage`);
    const invitation = await page.textContent(`#${id} .readout`);
    await page.keyboard.press("ArrowRight");
    const first = await page.textContent(`#${id} .readout`);
    await page.keyboard.press("ArrowRight");
    const second = await page.textContent(`#${id} .readout`);
    assert.notEqual(first, invitation, id);
    assert.notEqual(second, first, id);
    assert.equal(await page.$$eval(`#${id} .ring`, (all) => all.length), 1);
    await page.keyboard.press("Escape");
    assert.equal(await page.textContent(`#${id} .readout`), invitation);
  }
  await close();
});

test("every chart has a name, a description and a way in for the keyboard", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  const poor = await page.$$eval("figure.chart", (figures) =>
    figures
      .filter((figure) => {
        const stage = figure.querySelector(".stage");
        const named = document.getElementById(figure.getAttribute("aria-labelledby"))?.textContent;
        const reachable = !stage || (stage.tabIndex === 0 && stage.getAttribute("aria-label"));
        return (
          !named ||
          !figure.querySelector("figcaption").textContent ||
          !reachable ||
          !figure.querySelector("button.csv")
        );
      })
      .map((figure) => figure.id),
  );
  assert.deepEqual(poor, []);
  await close();
});

test("the CSV buttons give the data of their charts", async () => {
  const data = syntheticReport(300);
  const { page, close } = await open(written("csv", data));
  await drawn(page);
  const { day } = data;
  const lines = (text) => text.trimEnd().split("\n");
  const power = await csvOf(page, "power");
  assert.equal(power.name, "power.csv");
  assert.deepEqual(lines(power.text), [
    "time_s,watts",
    ...day.power.time_s.map((time, i) => `${time},${day.power.watts[i]}`),
  ]);
  const queue = await csvOf(page, "queue");
  assert.equal(lines(queue.text).length, 1 + day.queue.time_s.length);
  const pieces = await csvOf(page, "gantt");
  assert.equal(lines(pieces.text).length, 301);
  assert.ok(
    lines(pieces.text)[1].startsWith(`${day.pieces.job[0]},${day.jobs[0].class},0,0,4,4g.20gb,`),
  );
  const pareto = await csvOf(page, "pareto");
  assert.deepEqual(
    lines(pareto.text).slice(1),
    data.pareto.map((point) =>
      [
        point.setting,
        point.policy,
        point.a,
        point.energy_w_min,
        point.mean_tardiness_s,
        point.best?.from ?? "",
        point.best?.to ?? "",
      ].join(","),
    ),
  );
  const headline = await csvOf(page, "headline");
  assert.equal(lines(headline.text).length, 1 + data.settings[0].policies.length);
  const scatter = await csvOf(page, "scatter");
  assert.equal(lines(scatter.text).length, 1 + data.settings[0].policies.length * 23);
  assert.equal(lines((await csvOf(page, "tardiness")).text).length, 1 + day.jobs.length);
  assert.ok(lines((await csvOf(page, "layouts")).text).length > 280);
  await close();
});

test("names with markup and quotes are shown as text", async () => {
  const data = syntheticReport(60);
  const evil = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">'"&<!--`;
  data.title = evil;
  data.settings[0].name = evil;
  data.settings[0].policies[1].name = evil;
  data.pareto.forEach((point) => {
    point.setting = evil;
  });
  data.day.policy = evil;
  data.day.jobs.forEach((job) => {
    job.id = `${evil}${job.id}`;
    job.class = evil;
  });
  data.day.pieces.job = data.day.pieces.job.map((id) => `${evil}${id}`);
  data.figures[0].rows[0][0] = evil;
  const { page, complaints, close } = await open(written("evil", data));
  await drawn(page);
  await page.focus("#gantt .stage");
  await page.keyboard.press("Enter");
  assert.equal(await page.textContent("h1"), evil);
  assert.ok((await page.textContent("#gantt .facts")).includes(evil));
  assert.ok((await page.textContent("#headline tbody")).includes(evil));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.$$eval("img", (all) => all.length), 0);
  assert.deepEqual(complaints, []);
  const pieces = await csvOf(page, "gantt");
  assert.ok(pieces.text.includes(`"${evil.replaceAll('"', '""')}1"`));
  await close();
});

test("a script put into the page is refused by its security policy", async () => {
  const html = fillPage(readFileSync(kTemplate, "utf8"), syntheticReport(60)).replace(
    "</body>",
    "<script>window.hacked = 1</script></body>",
  );
  const path = join(folder, "policy.html");
  writeFileSync(path, html);
  const { page, close } = await open(path);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await close();
});

test("missing data is named, and the rest is drawn", async () => {
  const data = syntheticReport(60);
  delete data.settings[0].policies[0].et;
  delete data.day.queue;
  const { page, complaints, close } = await open(written("missing", data));
  const message = await page.textContent(".notice");
  assert.match(message, /settings\[0\]\.policies\[0\]\.et: wanted an object, found nothing/);
  assert.match(message, /day\.queue: wanted a list of objects, or an object of columns/);
  await drawn(page);
  assert.deepEqual(complaints, []);
  await close();
});

test("small, empty, broken and missing data all say something", async () => {
  const small = {
    title: "Small",
    settings: [
      {
        name: "",
        reference: "p",
        policies: [
          {
            name: "p",
            scheduler: "s",
            repartition: "none",
            days: 1,
            et: { mean: 1 },
            energy_w_min: { mean: 2e6 },
            mean_tardiness_s: { mean: 30 },
            et_energy_part: 0.4,
            et_tardiness_part: 0.6,
            diff: null,
            points: [],
          },
        ],
      },
    ],
    day: null,
  };
  const bare = join(folder, "bare.html");
  writeFileSync(bare, readFileSync(kTemplate));
  const broken = join(folder, "broken.html");
  writeFileSync(broken, readFileSync(kTemplate, "utf8").replace("__PARTITA_DATA__", "{not json"));
  for (const [path, words] of [
    [written("small", small), "p: 33.3 kWh, mean tardiness 0.50 min, ET 1.00."],
    [written("empty", { title: "Empty", settings: [] }), "There is nothing to show"],
    [broken, "It is not JSON"],
    [bare, "This is the empty page"],
  ]) {
    const { page, complaints, close } = await open(path);
    assert.ok((await page.textContent("#report")).includes(words), words);
    assert.deepEqual(complaints, []);
    await close();
  }
});

test("the settings can be changed with the keyboard", async () => {
  const data = syntheticReport(60);
  data.settings.push(structuredClone(data.settings[0]));
  data.settings[1].name = "rate=12";
  data.settings[1].policies = data.settings[1].policies.slice(0, 3);
  const { page, complaints, close } = await open(written("settings", data));
  await page.focus("input[type=radio]");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelectorAll("#headline tbody tr").length === 3);
  assert.deepEqual(complaints, []);
  await close();
});

test("the theme button goes round, and the chart of slices follows", async () => {
  const { page, close } = await open(sampleFile);
  await drawn(page);
  const corner = () =>
    page.$eval("#gantt canvas", (canvas) =>
      [...canvas.getContext("2d").getImageData(2, canvas.height - 3, 1, 1).data].join(","),
    );
  const light = await corner();
  await page.click("button.theme");
  await page.click("button.theme");
  assert.equal(await page.textContent("button.theme"), "Theme: dark");
  assert.notEqual(await corner(), light);
  await close();
});

test("it prints on light paper", async () => {
  const { page, close } = await open(sampleFile, { colorScheme: "dark" });
  await drawn(page);
  await page.emulateMedia({ media: "print" });
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(ground, "rgb(255, 255, 255)");
  assert.ok((await page.pdf({ format: "A4" })).length > 20000);
  await close();
});

// Measured, and only held to what would make the chart useless: machines differ.
test("a Gantt chart of 100,000 pieces draws and pans", async (t) => {
  const { page, complaints, close } = await open(written("large", syntheticReport(100000)));
  await drawn(page);
  const load_ms = await page.evaluate(() => performance.now());
  const times = await page.evaluate(async () => {
    const stage = document.querySelector("#gantt .stage");
    const key = (name) => stage.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
    const frame = () =>
      new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
      });
    const out = { whole: [], dense: [], sparse: [] };
    for (let i = 0; i < 12; ++i) {
      key("Escape");
      await frame();
      out.whole.push(Number(stage.dataset.paintMs));
    }
    const keys = [..."uurrllrruurrllrruuuuuurrllrrllrruuuurrllrrll"];
    const names = { u: "ArrowUp", r: "ArrowRight", l: "ArrowLeft" };
    for (const letter of keys) {
      key(names[letter]);
      await frame();
      out[stage.dataset.mode].push(Number(stage.dataset.paintMs));
    }
    return out;
  });
  for (const [mode, all] of Object.entries(times)) {
    const sorted = [...all].sort((a, b) => a - b);
    assert.ok(sorted.length > 3, mode);
    const middle = sorted[Math.floor(sorted.length / 2)];
    t.diagnostic(
      `${mode}: ${sorted.length} frames, median ${middle} ms, slowest ${sorted.at(-1)} ms`,
    );
    assert.ok(middle < 250, `${mode}: median ${middle} ms`);
  }
  t.diagnostic(`whole page drawn after ${load_ms.toFixed(0)} ms at most`);
  assert.deepEqual(complaints, []);
  await close();
});

test("the template stays below half a megabyte", (t) => {
  const { size } = statSync(kTemplate);
  t.diagnostic(`${size} bytes`);
  assert.ok(size < 500_000);
});
