// Reads the data out of the page and draws the report.

import type { Day, Report, Setting } from "./contract";
import { layoutsChart, powerChart, queueChart, tardinessChart } from "./day_charts";
import { freshId, make } from "./dom";
import { figureElement } from "./figures";
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

function settingChoice(settings: Setting[], onChoice: (index: number) => void): HTMLElement {
  const labels = settings.map((setting) => setting.name || "the only setting");
  if (settings.length > kButtonsMax) {
    const select = make(
      "select",
      {},
      ...labels.map((label, i) => make("option", { value: i }, label)),
    );
    select.addEventListener("change", () => onChoice(Number(select.value)));
    return make("label", { class: "setting-choice" }, "Setting ", select);
  }
  const name = freshId("setting");
  return make(
    "fieldset",
    { class: "setting-choice" },
    make("legend", {}, "Setting"),
    ...labels.map((label, i) => {
      const radio = make("input", { type: "radio", name, value: i, checked: i === 0 });
      radio.addEventListener("change", () => onChoice(i));
      return make("label", {}, radio, make("span", {}, label));
    }),
  );
}

function settingBody(report: Report, setting: Setting): Node[] {
  const pareto = paretoChart(report.pareto, setting);
  return [
    headline(setting),
    make(
      "div",
      { class: pareto ? "pair" : "" },
      scatterChart(setting).element,
      pareto?.element ?? null,
    ),
  ];
}

function settingsSection(report: Report): HTMLElement | null {
  const settings = report.settings.filter((setting) => setting.policies.length > 0);
  if (settings.length === 0) return null;
  const body = make("div", {});
  const show = (index: number) => body.replaceChildren(...settingBody(report, settings[index]));
  show(0);
  return section("Which policy", settings.length > 1 ? settingChoice(settings, show) : null, body);
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

function daySection(day: Day): { element: HTMLElement; chart: Gantt } {
  const end_s = dayEnd_s(day);
  const follow = debounced(() => followers.forEach((chart) => chart.redraw()), 80);
  const chart = gantt(day, end_s, follow);
  const followers = [queueChart(day, chart.window), powerChart(day, chart.window)];
  const words =
    `${day.jobs.length.toLocaleString("en")} jobs on ${day.gpus} × ${day.gpu}` +
    `${day.policy ? `, decided by ${day.policy}` : ""}.`;
  const element = section(
    "One day in detail",
    make("p", { class: "summary" }, words),
    layoutsChart(day, end_s).element,
    chart.element,
    ...followers.map((one) => one.element),
    tardinessChart(day).element,
  );
  return { element, chart };
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
      report.generated_by ? make("p", { class: "made-by" }, report.generated_by) : null,
    ),
    themeButton(onTheme),
  );
}

// Chromium prints the canvas as it is, and paper is light.
function repaintForPrint(chart: Gantt): void {
  matchMedia("print").addEventListener("change", () => chart.repaint());
}

function showReport(root: HTMLElement, report: Report, problems: Problems): void {
  const day = report.day === null ? null : daySection(report.day);
  if (day) repaintForPrint(day.chart);
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
    header(report, () => day?.chart.repaint()),
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
