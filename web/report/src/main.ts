// Reads the data out of the page and draws the report.

import { acrossChart } from "./across";
import type { Day, Report, Setting } from "./contract";
import { layoutsChart, powerChart, queueChart, tardinessChart } from "./day_charts";
import { freshId, make } from "./dom";
import { figureElement } from "./figures";
import { duration, fixed } from "./format";
import { furtherMeans } from "./further";
import { gantt, type Gantt } from "./gantt_view";
import { headline } from "./headline";
import { dayEnd_s } from "./series";
import { themeButton } from "./theme";
import { paretoChart, scatterChart } from "./tradeoff";
import { Problems, readReport } from "./validate";

const kButtonsMax = 6;

function section(title: string, ...children: (Node | null)[]): HTMLElement {
  const id = freshId("section");
  return make("section", { "aria-labelledby": id }, make("h2", { id }, title), ...children);
}

function notice(title: string, sentences: string[], list: string[]): HTMLElement {
  return make(
    "div",
    { class: "notice", role: "alert" },
    make("strong", {}, title),
    ...sentences.map((sentence) => make("p", {}, sentence)),
    list.length > 0 ? make("ul", {}, ...list.map((line) => make("li", {}, line))) : null,
  );
}

// ---- settings

function choice(
  legend: string,
  labels: string[],
  first: number,
  onChoice: (index: number) => void,
): HTMLElement {
  if (labels.length > kButtonsMax) {
    const select = make(
      "select",
      {},
      ...labels.map((label, i) => make("option", { value: i, selected: i === first }, label)),
    );
    select.addEventListener("change", () => onChoice(Number(select.value)));
    return make("label", { class: "setting-choice" }, `${legend} `, select);
  }
  const name = freshId("choice");
  return make(
    "fieldset",
    { class: "setting-choice" },
    make("legend", {}, legend),
    ...labels.map((label, i) => {
      const radio = make("input", { type: "radio", name, value: i, checked: i === first });
      radio.addEventListener("change", () => onChoice(i));
      return make("label", {}, radio, make("span", {}, label));
    }),
  );
}

function settingBody(report: Report, setting: Setting): Node[] {
  const pareto = paretoChart(report.pareto, setting);
  if (setting.policies.length === 1) {
    return [headline(setting), furtherMeans(setting)].filter((part) => part !== null);
  }
  return [
    headline(setting),
    make(
      "div",
      { class: pareto ? "pair" : "" },
      scatterChart(setting).element,
      pareto?.element ?? null,
    ),
    furtherMeans(setting),
  ].filter((part) => part !== null);
}

function settingsSection(report: Report): HTMLElement | null {
  const settings = report.settings.filter((setting) => setting.policies.length > 0);
  if (settings.length === 0) return null;
  const body = make("div", {});
  const show = (index: number) => body.replaceChildren(...settingBody(report, settings[index]));
  // The setting of the day in detail is the one that the page is about.
  const about = settings.findIndex((setting) => setting.name === report.days[0]?.setting);
  const first = Math.max(0, about);
  show(first);
  const names = settings.map((setting) => setting.name || "the only setting");
  const alone = settings.every(({ policies }) => policies.length === 1);
  return section(
    alone ? "What it costs" : "Which policy",
    settings.length > 1 ? choice("Setting", names, first, show) : null,
    body,
    acrossChart(settings)?.element ?? null,
  );
}

// ---- the day

// Redrawing two SVG charts on each frame of a pan would make the pan stutter.
function debounced(act: () => void, wait_ms: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(act, wait_ms);
  };
}

function dayWords(day: Day): string {
  const words = [
    `${day.jobs.length.toLocaleString("en")} jobs on ${day.gpus} × ${day.gpu}`,
    day.policy ? `, decided by ${day.policy}` : "",
    day.setting && day.seed !== null ? ` (${day.setting}, test day ${day.seed})` : "",
  ];
  const part = day.window_s !== null && day.window_s[0] > 0;
  if (day.energy_j !== null && day.mean_tardiness_s !== null && !part) {
    const late = duration(day.mean_tardiness_s).replaceAll(" ", "\u00a0");
    words.push(`: ${fixed(day.energy_j / 3.6e6, 2)}\u00a0kWh, mean tardiness ${late}`);
  }
  words.push(".");
  if (day.window_s !== null && part) {
    const [begin, end] = day.window_s.map((time) => fixed(time / 3600, 0));
    words.push(` The busiest part of the run: its hours ${begin} to ${end}.`);
  }
  return words.join("");
}

interface DayBody {
  element: HTMLElement;
  chart: Gantt;
}

function dayBody(day: Day): DayBody {
  const end_s = dayEnd_s(day);
  const follow = debounced(() => followers.forEach((chart) => chart.redraw()), 80);
  const chart = gantt(day, end_s, follow);
  const followers = [queueChart(day, chart.window), powerChart(day, chart.window)];
  const element = make(
    "div",
    {},
    make("p", { class: "summary" }, dayWords(day)),
    layoutsChart(day, end_s).element,
    chart.element,
    ...followers.map((one) => one.element),
    tardinessChart(day).element,
  );
  return { element, chart };
}

// One day at a time: a Gantt chart of a hundred thousand pieces is made when it is asked for.
function daySection(days: Day[]): { element: HTMLElement; repaint: () => void } {
  let body = dayBody(days[0]);
  const place = make("div", {}, body.element);
  const show = (index: number) => {
    body = dayBody(days[index]);
    place.replaceChildren(body.element);
  };
  const names = days.map((day) => day.policy || "a day");
  const element = section(
    "One day in detail",
    days.length > 1 ? choice("Policy", names, 0, show) : null,
    place,
  );
  return { element, repaint: () => body.chart.repaint() };
}

// ---- the page

function problemsNotice(problems: Problems): HTMLElement | null {
  if (problems.count === 0) return null;
  const more = problems.count - problems.list.length;
  return notice(
    "This report is incomplete",
    ["Some of its data is missing or has the wrong form. What could be read is shown below."],
    more > 0 ? [...problems.list, `and ${more} more`] : problems.list,
  );
}

function header(report: Report, onTheme: () => void): HTMLElement {
  return make(
    "header",
    {},
    make(
      "div",
      {},
      make("h1", {}, report.title),
      report.source ? make("p", { class: "made-by" }, report.source) : null,
      report.generated_by
        ? make("p", { class: "made-by" }, make("code", {}, report.generated_by))
        : null,
    ),
    themeButton(onTheme),
  );
}

// Chromium prints the canvas as it is, and paper is light.
function repaintForPrint(repaint: () => void): void {
  matchMedia("print").addEventListener("change", repaint);
}

function showReport(root: HTMLElement, report: Report, problems: Problems): void {
  const day = report.days.length === 0 ? null : daySection(report.days);
  if (day) repaintForPrint(day.repaint);
  const settings = settingsSection(report);
  const figures =
    report.figures.length === 0
      ? null
      : section("Further results", ...report.figures.map(figureElement));
  const nothing =
    settings === null && day === null && figures === null
      ? notice(
          "There is nothing to show",
          ["The data holds no policies, no day and no figures."],
          [],
        )
      : null;
  document.title = report.title || "Partita report";
  const parts = [
    header(report, () => day?.repaint()),
    problemsNotice(problems),
    nothing,
    settings,
    day?.element ?? null,
    figures,
  ];
  root.replaceChildren(...parts.filter((part) => part !== null));
}

function dataText(): string {
  return document.getElementById("partita-data")?.textContent?.trim() ?? "";
}

function showFailure(root: HTMLElement, title: string, sentence: string): void {
  root.replaceChildren(
    make("header", {}, make("h1", {}, "Partita report")),
    notice(title, [sentence], []),
  );
}

function start(): void {
  const root = document.getElementById("report")!;
  const text = dataText();
  if (text === "" || text.startsWith("__")) {
    return showFailure(
      root,
      "This is the empty page",
      "No data has been put into it yet; partita report writes a copy with the data inside.",
    );
  }
  const problems = new Problems();
  try {
    const report = readReport(JSON.parse(text), problems);
    if (report !== null) return showReport(root, report, problems);
    showFailure(root, "The data of this report cannot be read", problems.list.join("; "));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const what =
      error instanceof SyntaxError ? "It is not JSON" : "The page failed while drawing it";
    showFailure(root, "The data of this report cannot be read", `${what}: ${reason}`);
  }
}

start();
