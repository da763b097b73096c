// The pages that the program writes, opened in headless Chromium: drawn, quiet, usable, exact.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { canvasColours, csvOf, drawn, launch, openPage } from "./browser.mjs";
import { kPartita } from "./sample.mjs";

// Set to a folder to keep pictures of the pages.
const kPictures = process.env.PARTITA_REPORT_PICTURES ?? "";

let browser;
let folder;
let skip = existsSync(kPartita) ? false : `${kPartita} is not built`;

function partita(...words) {
  return execFileSync(kPartita, words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "partita-program-"));
  partita("generate", "--hours", "24", "--rate", "20", "--seed", "7", "--out", "jobs.csv");
  try {
    partita("simulate", "--jobs", "jobs.csv", "--gpus", "8", "--scheduler", "cedf", "--repartition",
      "timetable:00:00=2,08:00=6,20:00=2", "--report", "simulate.html"); // prettier-ignore
  } catch (error) {
    if (!String(error.stderr).includes("built without the report page")) throw error;
    skip = "partita was built without the report page";
    return;
  }
  browser = await launch();
});

after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

async function marksOf(page, id) {
  return page.$$eval(`#${id} svg :is(path, circle, rect, line)`, (all) => all.length);
}

// Opens a page of the program in light, dark and on a phone, and looks for what must be there.
async function inspectPage(name, charts) {
  for (const options of [
    { colorScheme: "light" },
    { colorScheme: "dark" },
    { viewport: { width: 390, height: 844 } },
  ]) {
    const { page, complaints, close } = await openPage(browser, join(folder, name), options);
    await drawn(page);
    assert.equal(await page.$(".notice"), null, await page.textContent("#report"));
    for (const id of charts) assert.ok((await marksOf(page, id)) > 3, `${name}: ${id} is empty`);
    assert.ok((await canvasColours(page)) > 5);
    const [wide, view] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    assert.ok(wide <= view, `${name} is ${wide} wide in a window of ${view}`);
    if (kPictures) {
      const kind = options.colorScheme ?? "phone";
      await page.screenshot({ path: join(kPictures, `${name}-${kind}.png`), fullPage: true });
    }
    assert.deepEqual(complaints, []);
    await close();
  }
}

function lines(text) {
  return text.trimEnd().split("\n");
}

test("simulate writes a page of one run", async (t) => {
  if (skip) return t.skip(skip);
  await inspectPage("simulate.html", ["layouts", "queue", "power", "tardiness"]);
  const { page, close } = await openPage(browser, join(folder, "simulate.html"));
  await drawn(page);
  const pieces = lines((await csvOf(page, "gantt")).text);
  partita("simulate", "--jobs", "jobs.csv", "--gpus", "8", "--scheduler", "cedf", "--repartition",
    "timetable:00:00=2,08:00=6,20:00=2", "--schedule", "schedule.csv"); // prettier-ignore
  assert.equal(pieces.length, lines(readFileSync(join(folder, "schedule.csv"), "utf8")).length);
  await close();
});

test("compare writes a page of all schedulers with the best one's day", async (t) => {
  if (skip) return t.skip(skip);
  const out = partita("compare", "--jobs", "jobs.csv", "--gpus", "8", "--schedulers", "all",
    "--repartition", "static:1,2,2,2,2,2,6,10", "--also", "cedf/none cedf/static:2", "--report",
    "compare.html", "--bounds", "--time-limit", "3", "--json"); // prettier-ignore
  const rows = JSON.parse(out);
  await inspectPage("compare.html", ["scatter", "pareto", "layouts", "queue", "power"]);
  const { page, close } = await openPage(browser, join(folder, "compare.html"));
  await drawn(page);
  const headline = lines((await csvOf(page, "headline")).text);
  assert.equal(headline.length, 1 + rows.length);
  // Counted from the end: layouts have commas of their own.
  const columns = headline[0].split(",");
  const gap = Number(headline[1].split(",").at(columns.indexOf("et_gap_percent") - columns.length));
  assert.ok(Math.abs(gap - rows[0].et_gap_percent) < 1e-6, `${gap}`);
  assert.match(await page.textContent("#headline tbody tr"), /bound\u00a0\+\d/);
  assert.match(await page.textContent("#report"), /No schedule, even one that knew all jobs/);
  assert.ok((await page.textContent("#report")).includes(`decided by ${rows[0].scheduler}`));
  await page.focus("#scatter .stage");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#scatter .readout"), /energy .* M W·min, mean tardiness/);
  await page.focus("#gantt .stage");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  assert.match(await page.textContent("#gantt .facts"), /Job\d+/);
  await close();
});

test("experiment writes a page with two days, and report the same bytes", async (t) => {
  if (skip) return t.skip(skip);
  const words = ["experiment", "smart-mig", "--days", "2", "--report", "study.html", "--json"];
  const { settings } = JSON.parse(partita(...words));
  await inspectPage("study.html", ["scatter", "pareto", "across", "layouts", "queue", "power"]);
  partita("report", "--results", "smart-mig.runs.jsonl", "--out", "again.html");
  assert.ok(readFileSync(join(folder, "again.html")).equals(readFileSync(join(folder, "study.html"))));
  const { page, close } = await openPage(browser, join(folder, "study.html"));
  await drawn(page);
  const text = await page.textContent("#report");
  assert.match(text, /Published figures beside ours/);
  // The page opens on the setting that most published figures are of.
  const rows = await page.$$eval("#headline tbody tr", (all) => all.length);
  const shown = settings.find(({ setting }) => setting === "rate=20");
  assert.equal(rows, shown.policies.length);
  const across = lines((await csvOf(page, "across")).text);
  const compared = settings.reduce((sum, { policies }) => sum + policies.length - 1, 0);
  assert.equal(across.length, 1 + compared);
  assert.equal(lines((await csvOf(page, "further")).text).length, 1 + rows);
  const before = await page.textContent("section:has(#gantt) .summary");
  await page.focus("section:has(#gantt) input[type=radio]");
  await page.keyboard.press("ArrowRight");
  await drawn(page);
  assert.notEqual(await page.textContent("section:has(#gantt) .summary"), before);
  await close();
});
