// Reads values off a chart: the nearest point to the pointer, or point by point with the keyboard.

import { makeSvg } from "./dom";

export interface InspectedPoint {
  x: number;
  y: number;
  text: string;
}

// One series: points in drawing order, in pixels of the drawing.
export interface Inspected {
  colour: string;
  points: InspectedPoint[];
}

export interface Inspector {
  show: (svg: Element, series: Inspected[]) => void;
}

interface Place {
  series: number;
  point: number;
}

export function nearest(series: Inspected[], x: number, y: number): Place | null {
  let best: Place | null = null;
  let bestDistance = Infinity;
  series.forEach(({ points }, s) =>
    points.forEach((point, p) => {
      // Sideways counts more: on a curve one points at a time, not at a height.
      const distance = 4 * (point.x - x) ** 2 + (point.y - y) ** 2;
      if (distance >= bestDistance) return;
      bestDistance = distance;
      best = { series: s, point: p };
    }),
  );
  return best;
}

function nearestInSeries(points: InspectedPoint[], x: number): number {
  let best = 0;
  points.forEach((point, i) => {
    if (Math.abs(point.x - x) < Math.abs(points[best].x - x)) best = i;
  });
  return best;
}

export function moved(
  series: Inspected[],
  place: Place | null,
  key: string,
  large: boolean,
): Place | null {
  const first = series.findIndex(({ points }) => points.length > 0);
  if (first < 0) return null;
  if (place === null) return { series: first, point: 0 };
  const points = series[place.series].points;
  const clamp = (value: number) => Math.max(0, Math.min(points.length - 1, value));
  const stride = large ? 10 : 1;
  if (key === "ArrowRight") return { ...place, point: clamp(place.point + stride) };
  if (key === "ArrowLeft") return { ...place, point: clamp(place.point - stride) };
  if (key === "Home") return { ...place, point: 0 };
  if (key === "End") return { ...place, point: points.length - 1 };
  const other = (place.series + (key === "ArrowDown" ? 1 : series.length - 1)) % series.length;
  if (series[other].points.length === 0) return place;
  return { series: other, point: nearestInSeries(series[other].points, points[place.point].x) };
}

const kInvitation = "Point at the chart, or focus it and use the arrow keys, to read its values.";
const kKeys = ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"];

class SvgInspector implements Inspector {
  private series: Inspected[] = [];
  private place: Place | null = null;
  private svg: Element | null = null;
  private readonly ring = makeSvg("circle", { r: 6, class: "ring", fill: "none" });

  constructor(
    stage: HTMLElement,
    private readonly readout: HTMLElement,
  ) {
    stage.addEventListener("pointermove", (event) => this.onPointer(event));
    stage.addEventListener("pointerleave", () => this.moveTo(null));
    stage.addEventListener("keydown", (event) => this.onKey(event));
    stage.addEventListener("blur", () => this.moveTo(null));
  }

  show(svg: Element, series: Inspected[]): void {
    this.svg = svg instanceof SVGSVGElement ? svg : svg.querySelector("svg");
    this.series = series;
    this.moveTo(null);
  }

  private onPointer(event: PointerEvent): void {
    if (this.svg === null) return;
    const box = this.svg.getBoundingClientRect();
    this.moveTo(nearest(this.series, event.clientX - box.left, event.clientY - box.top));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.moveTo(null);
    } else if (kKeys.includes(event.key)) {
      event.preventDefault();
      this.moveTo(moved(this.series, this.place, event.key, event.shiftKey));
    }
  }

  private moveTo(place: Place | null): void {
    this.place = place;
    if (place === null || this.svg === null) {
      this.ring.remove();
      this.readout.textContent = kInvitation;
      this.readout.classList.remove("reading");
      return;
    }
    const series = this.series[place.series];
    const point = series.points[place.point];
    this.ring.setAttribute("cx", String(point.x));
    this.ring.setAttribute("cy", String(point.y));
    this.ring.style.stroke = series.colour;
    if (this.ring.parentNode !== this.svg) this.svg.append(this.ring);
    this.readout.textContent = point.text;
    this.readout.classList.add("reading");
  }
}

export function inspect(stage: HTMLElement, readout: HTMLElement): Inspector {
  return new SvgInspector(stage, readout);
}
