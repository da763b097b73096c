// What the tests in headless Chromium share.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../web/report/package.json", import.meta.url));
const { chromium } = require("playwright-core");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// Opens a page and returns it with everything it complained about or asked the network for.
export async function openPage(browser, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) complaints.push(`request ${request.url()}`);
  });
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(() => document.querySelector("h1") !== null);
  return { page, complaints, close: () => context.close() };
}

export async function drawn(page) {
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll(".stage")].every((stage) =>
        stage.querySelector("svg, canvas"),
      ) && document.querySelector("#gantt .stage")?.dataset.paintMs !== undefined,
  );
}

// Colours on the canvas, counted on a grid of points.
export function canvasColours(page) {
  return page.$eval("#gantt canvas", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4 * 97)
      seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen.size;
  });
}

export async function csvOf(page, id) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`#${id} button.csv`),
  ]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}
