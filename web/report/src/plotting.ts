// What all SVG charts have in common: sizes, axes, and where a value lies in pixels.

import * as Plot from "@observablehq/plot";
import type { PlotSymbol } from "./palette";

export const kMarginLeft = 56;
export const kNarrow = 520;

export function basePlot(
  width: number,
  height: number,
  label: string,
  options: Plot.PlotOptions,
): SVGSVGElement & Plot.Plot {
  return Plot.plot({
    width,
    height,
    marginLeft: kMarginLeft,
    marginRight: 18,
    marginTop: 26,
    marginBottom: 42,
    className: "plot",
    ariaLabel: label,
    style: { background: "none", color: "var(--ink-2)", fontSize: "12px", overflow: "visible" },
    ...options,
  }) as SVGSVGElement & Plot.Plot;
}

// One mark by itself, for legends.
export function symbolPicture(symbol: PlotSymbol, colour: string): SVGSVGElement {
  const picture = Plot.plot({
    width: 14,
    height: 14,
    margin: 0,
    axis: null,
    x: { type: "identity" },
    y: { type: "identity" },
    className: "plot",
    style: { background: "none" },
    marks: [Plot.dot([[7, 7]], { symbol, r: 4.5, fill: colour })],
  }) as SVGSVGElement;
  picture.setAttribute("class", "symbol");
  picture.setAttribute("aria-hidden", "true");
  return picture;
}

type Apply = (value: number) => number;

export function pixels(plot: Plot.Plot): { x: Apply; y: Apply } {
  const x = plot.scale("x");
  const y = plot.scale("y");
  return {
    x: (value) => Number(x?.apply(value) ?? 0),
    y: (value) => Number(y?.apply(value) ?? 0),
  };
}

// A log scale when one value would press all others into the corner.
export function wantsLog(values: number[]): boolean {
  const positive = values.filter((value) => value > 0);
  if (positive.length < values.length || positive.length === 0) return false;
  return Math.max(...positive) / Math.min(...positive) > 6;
}

// The range of the values, a little wider, so that no mark lies on the frame.
export function padded(values: number[], log: boolean): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (log && positive.length > 0) {
    return [Math.min(...positive) / 1.25, Math.max(...positive) * 1.25];
  }
  const low = Math.min(...values);
  const high = Math.max(...values);
  const pad = (high - low || Math.abs(high) || 1) * 0.08;
  return [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad];
}

export interface Spot {
  x: number;
  y: number;
  xLow: number | null;
  xHigh: number | null;
  yLow: number | null;
  yHigh: number | null;
  name: string;
  colour: string;
  symbol: PlotSymbol;
}

// Means with their intervals in both directions.
export function spotMarks(spots: Spot[]): Plot.Markish[] {
  return spots.flatMap((spot) => {
    const across = spot.xLow !== null && spot.xHigh !== null;
    const along = spot.yLow !== null && spot.yHigh !== null;
    return [
      across
        ? Plot.ruleY([spot], {
            x1: "xLow",
            x2: "xHigh",
            y: "y",
            stroke: spot.colour,
            strokeWidth: 1.5,
          })
        : null,
      along
        ? Plot.ruleX([spot], {
            y1: "yLow",
            y2: "yHigh",
            x: "x",
            stroke: spot.colour,
            strokeWidth: 1.5,
          })
        : null,
      Plot.dot([spot], {
        x: "x",
        y: "y",
        r: 5.5,
        symbol: spot.symbol,
        fill: spot.colour,
        stroke: "var(--paper)",
        strokeWidth: 1.2,
      }),
    ];
  });
}

export interface Label {
  text: string;
  x: number;
  y: number;
  anchor: "start" | "end";
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

const kLetterWidth = 6.6;
const kLineHeight = 14;

function labelBox(label: Label): Box {
  const width = label.text.length * kLetterWidth;
  const left = label.anchor === "start" ? label.x : label.x - width;
  return {
    left,
    right: left + width,
    top: label.y - kLineHeight / 2,
    bottom: label.y + kLineHeight / 2,
  };
}

// Right of its point, else left, above or below; dropped where all are taken, since the table, the
// legend and the readout name it too.
export function placeLabels(
  points: { text: string; x: number; y: number }[],
  obstacles: Box[],
  width: number,
  height: number,
): Label[] {
  const taken: Box[] = points.map(({ x, y }) => ({
    left: x - 6,
    right: x + 6,
    top: y - 6,
    bottom: y + 6,
  }));
  taken.push(...obstacles);
  const placed: Label[] = [];
  for (const { text, x, y } of points) {
    const tries: Label[] = [
      [0, 1],
      [0, -1],
      [-13, 1],
      [13, 1],
      [-13, -1],
      [13, -1],
      [-26, 1],
      [26, 1],
    ].map(([dy, side]) => ({
      text,
      x: x + 10 * side,
      y: y + dy,
      anchor: side > 0 ? ("start" as const) : ("end" as const),
    }));
    const free = tries.find((label) => {
      const box = labelBox(label);
      const inside = box.left > 4 && box.right < width && box.top > 0 && box.bottom < height;
      return inside && !taken.some((other) => overlaps(box, other));
    });
    if (free === undefined) continue;
    taken.push(labelBox(free));
    placed.push(free);
  }
  return placed;
}
