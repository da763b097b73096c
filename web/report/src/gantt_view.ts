// The Gantt chart of slices: zooms, pans and names the job, by pointer, touch, button and key.

import { frame, legendRow } from "./chart";
import type { Day } from "./contract";
import type { TimeWindow } from "./day_charts";
import { button, freshId, make } from "./dom";
import { clock, csvText, duration } from "./format";
import {
  type Categories,
  categorise,
  type ColourBy,
  type GanttModel,
  ganttModel,
  neighbour,
  pieceAt,
} from "./gantt_model";
import {
  type Geometry,
  geometryOf,
  laneAtY,
  paintOf,
  paintScene,
  type Scene,
  type View,
} from "./gantt_paint";
import { tardiness_s } from "./series";

const kSpanLeast_s = 2;
const kZoomStep = 1.6;

export interface Gantt {
  element: HTMLElement;
  window: () => TimeWindow;
  repaint: () => void;
}

export function jobFacts(model: GanttModel, piece: number): [string, string][] {
  const { pieces } = model;
  const job = model.jobs.get(pieces.job[piece]);
  const last = pieces.start_slot[piece] + pieces.slots[piece] - 1;
  const slots =
    last > pieces.start_slot[piece] ? `slots ${pieces.start_slot[piece]}–${last}` : `slot ${last}`;
  const late = job ? tardiness_s(job) : null;
  return [
    ["Job", pieces.job[piece]],
    ["Class", job?.class || "–"],
    ["Slice", `${pieces.profile[piece]} on GPU ${pieces.gpu[piece]}, ${slots}`],
    ["Begin", clock(pieces.begin_s[piece])],
    ["End", clock(pieces.end_s[piece])],
    ["Deadline", job?.deadline_s == null ? "–" : clock(job.deadline_s)],
    ["Late by", late === null ? "–" : late > 0 ? duration(late) : "in time"],
  ];
}

function piecesCsv(model: GanttModel): string {
  const { pieces } = model;
  const rows = pieces.job.map((id, i) => {
    const job = model.jobs.get(id);
    return [
      id,
      job?.class ?? null,
      pieces.gpu[i],
      pieces.start_slot[i],
      pieces.slots[i],
      pieces.profile[i],
      pieces.begin_s[i],
      pieces.end_s[i],
      job?.deadline_s ?? null,
      job ? tardiness_s(job) : null,
    ];
  });
  return csvText(
    [
      "job",
      "class",
      "gpu",
      "start_slot",
      "slots",
      "profile",
      "begin_s",
      "end_s",
      "deadline_s",
      "tardiness_s",
    ],
    rows,
  );
}

class GanttView {
  private readonly model: GanttModel;
  private readonly canvas = make("canvas", { class: "gantt-canvas" });
  private readonly context = this.canvas.getContext("2d")!;
  private readonly tip = make("div", { class: "tip", hidden: true });
  private readonly readout = make("dl", { class: "facts", "aria-live": "polite" });
  private readonly legend = make("div", { class: "gantt-legend" });
  private readonly status = make("span", { class: "window-text", "aria-live": "polite" });
  readonly stage: HTMLElement;
  private readonly slotsOfProfile = new Map<string, number>();
  private categories: Categories;
  private colourBy: ColourBy = "class";
  private geometry: Geometry;
  private selected: number | null = null;
  private hovered: number | null = null;
  private frameAsked = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  view: View;

  constructor(
    private readonly day: Day,
    private readonly end_s: number,
    private readonly onWindow: () => void,
  ) {
    this.model = ganttModel(day);
    this.categories = categorise(this.model, this.colourBy);
    this.geometry = geometryOf(this.model, 900);
    this.view = { begin_s: 0, end_s, laneTop: 0 };
    day.pieces.profile.forEach((name, i) => this.slotsOfProfile.set(name, day.pieces.slots[i]));
    this.stage = make(
      "div",
      {
        class: "stage gantt-stage",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "zoomable chart",
        "aria-label": kKeys,
      },
      this.canvas,
      this.tip,
    );
    this.stage.style.height = `${this.geometry.height}px`;
    this.listen();
  }

  element(): HTMLElement {
    const description =
      `What ran on each of ${this.model.gpus} GPUs: time to the right, one thin row ` +
      `a memory slot (${this.model.slotsPerGpu} a GPU). Far out, a pixel is as strong as the slot ` +
      "was busy; pale is an idle slice.";
    this.showLegend();
    this.showFacts(null);
    return frame(
      "gantt",
      "Slices",
      description,
      () => piecesCsv(this.model),
      make("div", { class: "controls" }, ...this.controls()),
      this.legend,
      this.stage,
      this.readout,
      make("p", { class: "hint" }, kKeys),
    );
  }

  // ---- controls

  private controls(): HTMLElement[] {
    const zoom = (label: string, name: string, act: () => void) =>
      button(label, act, { "aria-label": name, title: name, class: "square" });
    const buttons = make(
      "span",
      { class: "button-row", role: "group", "aria-label": "Zoom and pan" },
      zoom("+", "Zoom in", () => this.zoom(kZoomStep)),
      zoom("−", "Zoom out", () => this.zoom(1 / kZoomStep)),
      zoom("←", "Earlier", () => this.pan(-0.4)),
      zoom("→", "Later", () => this.pan(0.4)),
      ...(this.geometry.lanesShown < this.model.lanes
        ? [
            zoom("↑", "GPUs above", () => this.panLanes(-1)),
            zoom("↓", "GPUs below", () => this.panLanes(1)),
          ]
        : []),
      button("Whole day", () => this.reset()),
    );
    return [buttons, this.colourSelect(), this.jobSearch(), this.status];
  }

  private colourSelect(): HTMLElement {
    const select = make(
      "select",
      {},
      make("option", { value: "class" }, "class"),
      make("option", { value: "lateness" }, "lateness"),
      make("option", { value: "slice" }, "slice"),
    );
    select.addEventListener("change", () => {
      this.colourBy = select.value as ColourBy;
      this.categories = categorise(this.model, this.colourBy);
      this.showLegend();
      this.repaint();
    });
    return make("label", {}, "Colour by ", select);
  }

  private jobSearch(): HTMLElement {
    const field = make("input", { type: "search", placeholder: "id", size: 8, id: freshId("job") });
    const find = () => {
      const pieces = this.model.piecesOfJob.get(field.value.trim());
      field.setAttribute("aria-invalid", String(pieces === undefined && field.value !== ""));
      if (pieces !== undefined) this.goTo(pieces[0]);
    };
    field.addEventListener("change", find);
    field.addEventListener("search", find);
    return make("label", {}, "Find job ", field);
  }

  private showLegend(): void {
    const variable = (i: number) =>
      this.colourBy === "lateness"
        ? ["var(--calm)", "var(--c5)", "var(--c2)", "var(--c8)"][i]
        : `var(--c${(i % 8) + 1})`;
    this.legend.replaceChildren(
      legendRow(
        this.categories.labels.map((label, i) => ({
          label,
          colour: variable(i),
          shape: "box" as const,
        })),
      ),
    );
  }

  // ---- moving about

  private span(): number {
    return this.view.end_s - this.view.begin_s;
  }

  private setWindow(begin_s: number, span_s: number): void {
    const span = Math.max(kSpanLeast_s, Math.min(this.end_s, span_s));
    const begin = Math.max(0, Math.min(this.end_s - span, begin_s));
    this.view = { ...this.view, begin_s: begin, end_s: begin + span };
    this.repaint();
    this.onWindow();
  }

  zoom(factor: number, at_s = this.view.begin_s + this.span() / 2): void {
    const span = Math.max(kSpanLeast_s, Math.min(this.end_s, this.span() / factor));
    const share = (at_s - this.view.begin_s) / this.span();
    this.setWindow(at_s - share * span, span);
  }

  pan(share: number): void {
    this.setWindow(this.view.begin_s + share * this.span(), this.span());
  }

  private panLanes(gpus: number): void {
    const most = this.model.lanes - this.geometry.lanesShown;
    const top = this.view.laneTop + gpus * this.model.slotsPerGpu;
    this.view.laneTop = Math.max(0, Math.min(most, top));
    this.repaint();
  }

  reset(): void {
    this.view.laneTop = 0;
    this.select(null);
    this.setWindow(0, this.end_s);
  }

  private goTo(piece: number): void {
    const { begin_s, end_s, gpu } = this.model.pieces;
    const span = Math.max(8 * (end_s[piece] - begin_s[piece]), 120);
    this.select(piece);
    const most = this.model.lanes - this.geometry.lanesShown;
    const lane = gpu[piece] * this.model.slotsPerGpu;
    const hidden = lane < this.view.laneTop || lane >= this.view.laneTop + this.geometry.lanesShown;
    if (hidden) this.view.laneTop = Math.min(most, lane);
    this.setWindow((begin_s[piece] + end_s[piece] - span) / 2, span);
  }

  // ---- events

  private listen(): void {
    this.stage.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    this.canvas.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"] as const) {
      this.canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    this.canvas.addEventListener("pointerleave", () => this.hover(null, 0, 0));
    this.canvas.addEventListener("dblclick", (event) => this.zoom(2.5, this.timeAt(event.offsetX)));
    new ResizeObserver(() => this.resize()).observe(this.stage);
  }

  private onKey(event: KeyboardEvent): void {
    const act = this.keyAction(event.key);
    if (act === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  private keyAction(key: string): (() => void) | null {
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.pan(-0.2),
      ArrowRight: () => this.pan(0.2),
      ArrowUp: () => this.zoom(kZoomStep),
      ArrowDown: () => this.zoom(1 / kZoomStep),
      "+": () => this.zoom(kZoomStep),
      "=": () => this.zoom(kZoomStep),
      "-": () => this.zoom(1 / kZoomStep),
      PageUp: () => this.panLanes(-1),
      PageDown: () => this.panLanes(1),
      Home: () => this.setWindow(0, this.span()),
      End: () => this.setWindow(this.end_s, this.span()),
      Escape: () => this.reset(),
      "0": () => this.reset(),
      Enter: () => this.selectInMiddle(),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
    return actions[key] ?? null;
  }

  // Without focus the wheel belongs to the page, or nobody could scroll past the chart.
  private onWheel(event: WheelEvent): void {
    const own = event.ctrlKey || event.metaKey || document.activeElement === this.stage;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (!own && !sideways) return;
    event.preventDefault();
    const delta = sideways ? event.deltaX || event.deltaY : event.deltaY;
    if (sideways) this.pan(delta / this.geometry.width);
    else this.zoom(Math.exp(-delta * 0.0025), this.timeAt(event.offsetX));
  }

  private onDown(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.stage.focus({ preventScroll: true });
    const piece = this.pieceUnder(event.offsetX, event.offsetY);
    if (piece !== null) this.select(piece);
  }

  private onMove(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) {
      this.hover(this.pieceUnder(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
      return;
    }
    const now = { x: event.offsetX, y: event.offsetY };
    if (this.pointers.size === 1) this.drag(before, now);
    else this.pinch(event.pointerId, before, now);
    this.pointers.set(event.pointerId, now);
  }

  private drag(before: { x: number; y: number }, now: { x: number; y: number }): void {
    this.hover(null, 0, 0);
    this.setWindow(this.view.begin_s - (now.x - before.x) * this.secondsPerPixel(), this.span());
  }

  private pinch(id: number, before: { x: number }, now: { x: number }): void {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    if (other === undefined) return;
    const was = Math.max(10, Math.abs(before.x - other.x));
    const is = Math.max(10, Math.abs(now.x - other.x));
    this.zoom(is / was, this.timeAt(other.x));
  }

  // ---- what is where

  private secondsPerPixel(): number {
    return this.span() / (this.geometry.width - this.geometry.left);
  }

  private timeAt(x: number): number {
    return this.view.begin_s + Math.max(0, x - this.geometry.left) * this.secondsPerPixel();
  }

  private pieceUnder(x: number, y: number): number | null {
    if (x < this.geometry.left) return null;
    const lane = laneAtY(this.model, this.geometry, this.view, y);
    return pieceAt(this.model, lane, this.timeAt(x), this.secondsPerPixel());
  }

  private hover(piece: number | null, x: number, y: number): void {
    this.hovered = piece;
    this.tip.hidden = piece === null;
    if (piece === null) return;
    this.tip.replaceChildren(
      ...jobFacts(this.model, piece).map(([name, value]) =>
        make("div", {}, make("span", {}, name), value),
      ),
    );
    const left = Math.min(x + 14, this.geometry.width - this.tip.offsetWidth - 4);
    const above = y + 16 + this.tip.offsetHeight > this.geometry.height;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${above ? Math.max(0, y - this.tip.offsetHeight - 10) : y + 16}px`;
  }

  private select(piece: number | null): void {
    this.selected = piece;
    this.showFacts(piece);
    this.repaint();
  }

  private selectInMiddle(): void {
    const time = this.view.begin_s + this.span() / 2;
    for (
      let lane = this.view.laneTop;
      lane < this.view.laneTop + this.geometry.lanesShown;
      ++lane
    ) {
      const piece = pieceAt(this.model, lane, time, this.span() / 20);
      if (piece !== null) return this.select(piece);
    }
  }

  private step(by: 1 | -1): void {
    if (this.selected === null) return this.selectInMiddle();
    const piece = neighbour(this.model, this.selected, by);
    this.select(piece);
    const middle = this.model.pieces.begin_s[piece];
    const seen = middle >= this.view.begin_s && middle <= this.view.end_s;
    if (!seen) this.setWindow(middle - this.span() / 2, this.span());
  }

  private showFacts(piece: number | null): void {
    const facts =
      piece === null
        ? kFactNames.map((name): [string, string] => [name, "–"])
        : jobFacts(this.model, piece);
    this.readout.replaceChildren(
      ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
  }

  // ---- painting

  private resize(): void {
    const width = Math.floor(this.stage.clientWidth);
    if (width === 0) return;
    this.geometry = geometryOf(this.model, width);
    this.repaint();
  }

  repaint(): void {
    if (this.frameAsked) return;
    this.frameAsked = true;
    requestAnimationFrame(() => {
      this.frameAsked = false;
      this.paintNow();
    });
  }

  paintNow(): void {
    const begin = performance.now();
    const scale = window.devicePixelRatio || 1;
    const { width, height } = this.geometry;
    if (
      this.canvas.width !== Math.round(width * scale) ||
      this.canvas.height !== Math.round(height * scale)
    ) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const mode = paintScene(this.context, this.scene(), scale);
    this.status.textContent = `${clock(this.view.begin_s)} to ${clock(this.view.end_s)}`;
    // Tests read what was drawn and how long it took.
    this.stage.dataset.mode = mode;
    this.stage.dataset.paintMs = (performance.now() - begin).toFixed(2);
    this.stage.dataset.window = `${this.view.begin_s.toFixed(3)} ${this.view.end_s.toFixed(3)}`;
  }

  private scene(): Scene {
    const lateness = this.colourBy === "lateness";
    const marked = this.selected ?? this.hovered;
    return {
      model: this.model,
      layouts: this.day.layouts,
      categories: this.categories,
      view: this.view,
      geometry: this.geometry,
      paint: paintOf(this.stage, lateness, this.categories.labels.length),
      selectedJob: marked === null ? null : this.model.pieces.job[marked],
      slotsOfProfile: this.slotsOfProfile,
    };
  }
}

const kFactNames = ["Job", "Class", "Slice", "Begin", "End", "Deadline", "Late by"];

const kKeys =
  "Drag to pan; pinch, double-click or, after a click, the wheel to zoom. Keyboard: " +
  "← → pan, ↑ ↓ or + − zoom, Home and End, Enter picks a job, n and p the next and the " +
  "one before, Escape shows the whole day.";

export function gantt(day: Day, end_s: number, onWindow: () => void): Gantt {
  const view = new GanttView(day, end_s, onWindow);
  return {
    element: view.element(),
    window: () => ({ begin_s: view.view.begin_s, end_s: view.view.end_s }),
    repaint: () => view.paintNow(),
  };
}
