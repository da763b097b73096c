// Draws a window of the Gantt chart on a canvas.

import type { LayoutSpan } from "./contract";
import { tickLabel, timeTicks } from "./format";
import {
  type Categories,
  entriesInWindow,
  type GanttModel,
  laneLowerBound,
  rasterLane,
} from "./gantt_model";
import { resolveColour, rgb } from "./palette";

export interface View {
  begin_s: number;
  end_s: number;
  // The lane at the top edge.
  laneTop: number;
}

export interface Geometry {
  width: number;
  height: number;
  left: number;
  bottom: number;
  laneHeight: number;
  gpuGap: number;
  lanesShown: number;
}

export const kAxisHeight = 24;
const kLaneHeightMax = 9;
const kLaneHeightMin = 2;
const kPlotHeightMax = 560;

// Lanes as high as fit; where not even thin ones fit, the view pans up and down.
export function geometryOf(model: GanttModel, width: number): Geometry {
  const gpuGap = model.gpus > 60 ? 1 : 5;
  const room = (kPlotHeightMax - model.gpus * gpuGap) / model.lanes;
  const laneHeight = Math.max(kLaneHeightMin, Math.min(kLaneHeightMax, Math.floor(room)));
  const gpuHeight = laneHeight * model.slotsPerGpu + gpuGap;
  const gpusShown = Math.min(model.gpus, Math.max(1, Math.floor(kPlotHeightMax / gpuHeight)));
  return {
    width,
    height: gpusShown * gpuHeight + kAxisHeight,
    left: width < 520 ? 44 : 56,
    bottom: gpusShown * gpuHeight,
    laneHeight,
    gpuGap,
    lanesShown: gpusShown * model.slotsPerGpu,
  };
}

export function laneY(model: GanttModel, geometry: Geometry, view: View, lane: number): number {
  const gpus = Math.floor(lane / model.slotsPerGpu) - view.laneTop / model.slotsPerGpu;
  return gpus * geometry.gpuGap + (lane - view.laneTop) * geometry.laneHeight;
}

export function laneAtY(model: GanttModel, geometry: Geometry, view: View, y: number): number {
  const gpuHeight = geometry.laneHeight * model.slotsPerGpu + geometry.gpuGap;
  const gpu = Math.floor(y / gpuHeight);
  const slot = Math.floor((y - gpu * gpuHeight) / geometry.laneHeight);
  if (y < 0 || y >= geometry.bottom || slot >= model.slotsPerGpu) return -1;
  return view.laneTop + gpu * model.slotsPerGpu + slot;
}

export interface Paint {
  ink: string;
  faint: string;
  rule: string;
  paper: string;
  offered: string;
  colours: [number, number, number][];
  labels: string[];
  font: string;
}

const kLatenessColours = ["--calm", "--c5", "--c2", "--c8"];

function luminance([red, green, blue]: [number, number, number]): number {
  const linear = [red, green, blue].map((value) =>
    value <= 10.3 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

// Large areas in full colour would shout; a third of the way to the paper they stay as distinct.
function softened(
  colour: [number, number, number],
  paper: [number, number, number],
): [number, number, number] {
  return colour.map((value, i) => Math.round(value + 0.3 * (paper[i] - value))) as [
    number,
    number,
    number,
  ];
}

export function paintOf(host: Element, lateness: boolean, count: number): Paint {
  const named = (name: string) => rgb(resolveColour(host, name));
  const variables = lateness
    ? kLatenessColours
    : Array.from({ length: count }, (_, i) => `--c${(i % 8) + 1}`);
  const paper = resolveColour(host, "--paper");
  const colours = variables.map((name) => softened(resolveColour(host, name), paper));
  return {
    ink: named("--ink"),
    faint: named("--ink-3"),
    rule: named("--rule"),
    paper: named("--paper"),
    offered: named("--offered"),
    colours,
    labels: colours.map((colour) => (luminance(colour) > 0.19 ? "#000" : "#fff")),
    font: getComputedStyle(host).fontFamily,
  };
}

// Above this many pieces in view they are painted as pixels, below as rectangles with names.
export const kRectanglesMax = 4000;
const kLayoutsMax = 6000;

interface Scene {
  model: GanttModel;
  layouts: LayoutSpan[];
  categories: Categories;
  view: View;
  geometry: Geometry;
  paint: Paint;
  selectedJob: string | null;
  slotsOfProfile: Map<string, number>;
}

export type { Scene };

function xOf(scene: Scene, time: number): number {
  const { view, geometry } = scene;
  const share = (time - view.begin_s) / (view.end_s - view.begin_s);
  return geometry.left + share * (geometry.width - geometry.left);
}

function lastLane(scene: Scene): number {
  return Math.min(scene.model.lanes, scene.view.laneTop + scene.geometry.lanesShown);
}

function paintGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, geometry, paint } = scene;
  const ticks = timeTicks(view.begin_s, view.end_s, (geometry.width - geometry.left) / 90);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : view.end_s - view.begin_s;
  context.font = `11px ${paint.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of ticks) {
    const x = Math.round(xOf(scene, tick)) + 0.5;
    context.fillStyle = paint.rule;
    context.fillRect(x - 0.5, 0, 1, geometry.bottom);
    context.fillStyle = paint.faint;
    const text = tickLabel(tick, step);
    const half = context.measureText(text).width / 2;
    context.fillText(
      text,
      Math.min(Math.max(x, geometry.left + half), geometry.width - half),
      geometry.bottom + 7,
    );
  }
}

function paintGpuNames(context: CanvasRenderingContext2D, scene: Scene): void {
  const { model, view, geometry, paint } = scene;
  const gpuHeight = geometry.laneHeight * model.slotsPerGpu;
  const every = Math.max(1, Math.ceil(14 / (gpuHeight + geometry.gpuGap)));
  context.font = `11px ${paint.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = paint.faint;
  for (let lane = view.laneTop; lane < lastLane(scene); lane += model.slotsPerGpu) {
    const gpu = lane / model.slotsPerGpu;
    if (gpu % every !== 0) continue;
    context.fillText(
      `GPU ${gpu}`,
      geometry.left - 8,
      laneY(model, geometry, view, lane) + gpuHeight / 2,
    );
  }
}

// Slots that belong to a slice, whether used or not; what stays bare is offered to nobody. Over the
// pixels of the overview only the lower edges of the slices are drawn.
function paintLayouts(context: CanvasRenderingContext2D, scene: Scene, edgesOnly: boolean): void {
  const { model, view, geometry, paint } = scene;
  if (scene.layouts.length > kLayoutsMax) return;
  context.fillStyle = edgesOnly ? paint.paper : paint.offered;
  for (const span of scene.layouts) {
    const firstLane = span.gpu * model.slotsPerGpu;
    if (span.end_s <= view.begin_s || span.begin_s >= view.end_s) continue;
    if (firstLane < view.laneTop || firstLane >= lastLane(scene)) continue;
    const x = xOf(scene, Math.max(span.begin_s, view.begin_s));
    const width = xOf(scene, Math.min(span.end_s, view.end_s)) - x;
    for (const part of span.layout.split(",")) {
      const [profile, slot] = part.trim().split(":");
      const slots = scene.slotsOfProfile.get(profile) ?? (Number.parseInt(profile, 10) || 1);
      const y = laneY(model, geometry, view, firstLane + Number(slot || 0));
      const height = slots * geometry.laneHeight - 1;
      context.fillRect(x, edgesOnly ? y + height : y, width, edgesOnly ? 1 : height);
    }
  }
}

let rasterCanvas: HTMLCanvasElement | null = null;

// One row of pixels a lane, stretched to the lane's height.
function paintDense(context: CanvasRenderingContext2D, scene: Scene, scale: number): void {
  const { model, view, geometry, categories, paint } = scene;
  const width = Math.max(1, Math.floor((geometry.width - geometry.left) * scale));
  const lanes = lastLane(scene) - view.laneTop;
  rasterCanvas ??= document.createElement("canvas");
  rasterCanvas.width = width;
  rasterCanvas.height = lanes;
  const raster = rasterCanvas.getContext("2d")!;
  const image = raster.createImageData(width, lanes);
  const row = new Float32Array(4 * width);
  const perSecond = width / (view.end_s - view.begin_s);
  for (let i = 0; i < lanes; ++i) {
    rasterLane(
      model,
      view.laneTop + i,
      view.begin_s,
      perSecond,
      width,
      categories.of,
      paint.colours,
      row,
      image.data,
      4 * width * i,
    );
  }
  raster.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  for (let i = 0; i < lanes; i += model.slotsPerGpu) {
    const y = laneY(model, geometry, view, view.laneTop + i);
    context.drawImage(
      rasterCanvas,
      0,
      i,
      width,
      model.slotsPerGpu,
      geometry.left,
      y,
      geometry.width - geometry.left,
      model.slotsPerGpu * geometry.laneHeight,
    );
  }
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function boxOf(scene: Scene, piece: number): Box {
  const { model, view, geometry } = scene;
  const lane = model.pieces.gpu[piece] * model.slotsPerGpu + model.pieces.start_slot[piece];
  const x = Math.max(geometry.left, xOf(scene, model.pieces.begin_s[piece]));
  const right = Math.min(geometry.width, xOf(scene, model.pieces.end_s[piece]));
  return {
    x,
    y: laneY(model, geometry, view, lane),
    width: Math.max(right - x, 1),
    height: model.pieces.slots[piece] * geometry.laneHeight - 1,
  };
}

function paintPiece(context: CanvasRenderingContext2D, scene: Scene, piece: number): void {
  const box = boxOf(scene, piece);
  const category = scene.categories.of[piece];
  context.fillStyle = rgb(scene.paint.colours[category]);
  context.fillRect(box.x, box.y, box.width > 3 ? box.width - 0.75 : box.width, box.height);
  const name = scene.model.pieces.job[piece];
  if (box.height < 8 || box.width < 8 + 6.2 * name.length) return;
  context.fillStyle = scene.paint.labels[category];
  context.font = `${Math.min(11, box.height + 1)}px ${scene.paint.font}`;
  context.fillText(name, box.x + 4, box.y + box.height / 2 + 0.5);
}

function paintSparse(context: CanvasRenderingContext2D, scene: Scene): void {
  const { model, view } = scene;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (let lane = view.laneTop; lane < lastLane(scene); ++lane) {
    const slot = lane % model.slotsPerGpu;
    for (let i = laneLowerBound(model, lane, view.begin_s); i < model.laneStart[lane + 1]; ++i) {
      const piece = model.laneItems[i];
      if (model.pieces.begin_s[piece] >= view.end_s) break;
      if (model.pieces.start_slot[piece] === slot) paintPiece(context, scene, piece);
    }
  }
}

// Every piece of the selected job, since a preempted job moves from slice to slice.
function paintSelection(context: CanvasRenderingContext2D, scene: Scene): void {
  const pieces =
    scene.selectedJob === null ? [] : (scene.model.piecesOfJob.get(scene.selectedJob) ?? []);
  context.lineWidth = 2;
  context.strokeStyle = scene.paint.ink;
  for (const piece of pieces) {
    const { begin_s, end_s, gpu } = scene.model.pieces;
    if (end_s[piece] <= scene.view.begin_s || begin_s[piece] >= scene.view.end_s) continue;
    const lane = gpu[piece] * scene.model.slotsPerGpu;
    if (lane < scene.view.laneTop || lane >= lastLane(scene)) continue;
    const box = boxOf(scene, piece);
    context.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
  }
}

export function paintScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  scale: number,
): "dense" | "sparse" {
  const { model, view, geometry, paint } = scene;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = paint.paper;
  context.fillRect(0, 0, geometry.width, geometry.height);
  paintLayouts(context, scene, false);
  paintGrid(context, scene);
  const count = entriesInWindow(model, view.begin_s, view.end_s, view.laneTop, lastLane(scene));
  const dense = count > kRectanglesMax;
  if (dense) {
    paintDense(context, scene, scale);
    paintLayouts(context, scene, true);
  } else {
    paintSparse(context, scene);
  }
  paintSelection(context, scene);
  paintGpuNames(context, scene);
  return dense ? "dense" : "sparse";
}
