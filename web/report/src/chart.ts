// The frame that every chart shares: title, what it says, legend, drawing, reading of values by
// pointer or keyboard, and its data as CSV.

import { inspect, type Inspected, type Inspector } from "./inspect";
import { button, download, freshId, make } from "./dom";
import { fileName } from "./format";
import type { PlotSymbol } from "./palette";
import { symbolPicture } from "./plotting";

export interface LegendEntry {
  label: string;
  colour: string;
  shape: "dot" | "line" | "dash" | "box";
  symbol?: PlotSymbol;
}

export interface Drawing {
  svg: SVGSVGElement | HTMLElement;
  inspected: Inspected[];
}

export interface ChartSpec {
  id: string;
  title: string;
  // One or two sentences: what is drawn, in which units, what is good.
  description: string;
  // Height of the drawing in pixels, reserved before it is drawn.
  height: number;
  legend?: LegendEntry[];
  controls?: HTMLElement[];
  draw: (width: number, height: number) => Drawing;
  csv: () => string;
}

export interface Chart {
  element: HTMLElement;
  redraw: () => void;
}

export function legendRow(entries: LegendEntry[]): HTMLElement {
  const list = make("ul", { class: "legend" });
  for (const entry of entries) {
    if (entry.symbol) {
      list.append(make("li", {}, symbolPicture(entry.symbol, entry.colour), entry.label));
      continue;
    }
    const swatch = make("span", { class: `swatch ${entry.shape}`, "aria-hidden": "true" });
    swatch.style.setProperty("--swatch", entry.colour);
    list.append(make("li", {}, swatch, entry.label));
  }
  return list;
}

export function csvButton(title: string, csv: () => string): HTMLButtonElement {
  return button("CSV", () => download(fileName(title), csv()), {
    class: "csv",
    "aria-label": `Download the data of “${title}” as CSV`,
    title: "Download the data as CSV",
  });
}

export function frame(
  id: string,
  title: string,
  description: string,
  csv: () => string,
  ...body: (HTMLElement | null)[]
): HTMLElement {
  const titleId = freshId("title");
  const head = make(
    "div",
    { class: "chart-head" },
    make("h3", { id: titleId }, title),
    csvButton(title, csv),
  );
  return make(
    "figure",
    { class: "chart", id, "aria-labelledby": titleId },
    head,
    make("figcaption", {}, description),
    ...body,
  );
}

const kHint = "Arrow keys read the values, Escape ends.";

export function chart(spec: ChartSpec): Chart {
  const readoutId = freshId("readout");
  const readout = make("p", { class: "readout", id: readoutId, "aria-live": "polite" });
  const stage = make("div", {
    class: "stage",
    tabindex: "0",
    role: "group",
    "aria-roledescription": "chart",
    "aria-label": `${spec.title}. ${spec.description} ${kHint}`,
    "aria-describedby": readoutId,
  });
  stage.style.minHeight = `${spec.height}px`;
  const element = frame(
    spec.id,
    spec.title,
    spec.description,
    spec.csv,
    spec.controls ? make("div", { class: "controls" }, ...spec.controls) : null,
    spec.legend ? legendRow(spec.legend) : null,
    stage,
    readout,
  );
  const inspector: Inspector = inspect(stage, readout);
  let width = 0;
  const redraw = (): void => {
    if (width === 0) return;
    const drawing = spec.draw(width, spec.height);
    stage.replaceChildren(drawing.svg);
    inspector.show(drawing.svg, drawing.inspected);
  };
  new ResizeObserver(() => {
    const now = Math.floor(stage.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    redraw();
  }).observe(stage);
  return { element, redraw };
}
