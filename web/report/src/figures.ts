// Further tables and curves that an experiment adds to its report.

import * as Plot from "@observablehq/plot";
import { chart, frame } from "./chart";
import type { Cell, Figure, TableFigure, XyFigure } from "./contract";
import { freshId, make } from "./dom";
import { compact, csvText, fixed, plain } from "./format";
import { category, symbolOf } from "./palette";
import { basePlot, padded, pixels, spotMarks } from "./plotting";

function cellText(value: Cell): string {
  if (value === null) return "–";
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? fixed(value, 0) : compact(value);
}

function tableFigure(figure: TableFigure): HTMLElement {
  const numeric = figure.columns.map((_, i) =>
    figure.rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  const head = make(
    "tr",
    {},
    ...figure.columns.map((name, i) =>
      make("th", { scope: "col", class: numeric[i] ? "number" : "" }, name),
    ),
  );
  const rows = figure.rows.map((row) =>
    make(
      "tr",
      {},
      ...row.map((value, i) =>
        make(
          "td",
          {
            class: typeof value === "number" ? "number" : "",
            "data-label": figure.columns[i] ?? "",
          },
          make("div", {}, cellText(value)),
        ),
      ),
    ),
  );
  const table = make(
    "table",
    { class: "plain" },
    make("thead", {}, head),
    make("tbody", {}, ...rows),
  );
  return frame(
    freshId("figure"),
    figure.title,
    figure.note,
    () => csvText(figure.columns, figure.rows),
    make("div", { class: "table-wrap" }, table),
  );
}

function xyCsv(figure: XyFigure): string {
  return csvText(
    ["series", figure.x_label, figure.y_label, "low", "high"],
    figure.series.flatMap((series) =>
      series.points.map((point) => [series.name, point.x, point.y, point.low, point.high]),
    ),
  );
}

function xyPlot(figure: XyFigure, width: number, height: number): SVGSVGElement & Plot.Plot {
  const points = figure.series.flatMap((series) => series.points);
  const ys = points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]);
  return basePlot(width, height, figure.title, {
    x: {
      type: figure.x_log ? "log" : "linear",
      domain: padded(
        points.map((point) => point.x),
        figure.x_log,
      ),
      label: `${figure.x_label} →`,
      grid: true,
      ticks: width < 520 ? 4 : 8,
      tickFormat: plain,
    },
    y: {
      type: figure.y_log ? "log" : "linear",
      domain: padded(ys, figure.y_log),
      label: `↑ ${figure.y_label}`,
      grid: true,
      ticks: 6,
      tickFormat: plain,
    },
    marks: figure.series.flatMap((series, i) => [
      Plot.line(series.points, { x: "x", y: "y", stroke: category(i), strokeWidth: 1.5 }),
      ...spotMarks(
        series.points.map((point) => ({
          x: point.x,
          y: point.y,
          xLow: null,
          xHigh: null,
          yLow: point.low,
          yHigh: point.high,
          name: series.name,
          colour: category(i),
          symbol: symbolOf(i),
        })),
      ),
    ]),
  });
}

function xyFigure(figure: XyFigure): HTMLElement {
  return chart({
    id: freshId("figure"),
    title: figure.title,
    description: figure.note,
    height: 360,
    legend: figure.series.map((series, i) => ({
      label: series.name,
      colour: category(i),
      shape: "line" as const,
    })),
    draw: (width, height) => {
      const svg = xyPlot(figure, width, height);
      const at = pixels(svg);
      const inspected = figure.series.map((series, i) => ({
        colour: category(i),
        points: series.points.map((point) => ({
          x: at.x(point.x),
          y: at.y(point.y),
          text: `${series.name}: ${figure.x_label} ${compact(point.x)}, ${figure.y_label} ${compact(
            point.y,
          )}${
            point.low === null || point.high === null
              ? ""
              : ` (${compact(point.low)} to ${compact(point.high)})`
          }`,
        })),
      }));
      return { svg, inspected };
    },
    csv: () => xyCsv(figure),
  }).element;
}

export function figureElement(figure: Figure): HTMLElement {
  return figure.kind === "table" ? tableFigure(figure) : xyFigure(figure);
}
