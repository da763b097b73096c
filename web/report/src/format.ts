// Numbers, times and CSV as the page writes them.

import type { Cell, Interval } from "./contract";

export function fixed(value: number, digits: number): string {
  // A true minus sign, and no "-0.0".
  const text = value.toFixed(digits);
  const shown = Number(text) === 0 ? (0).toFixed(digits) : text;
  return shown.replace("-", "−");
}

// Three significant digits or all digits before the point, whichever is more.
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001 || size >= 1e7) return value.toExponential(2).replace("-", "−");
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return fixed(value, Math.min(digits, 5));
}

// For ticks: no zeros at the end, but those before the point stay.
export function plain(value: number): string {
  const text = compact(value);
  return text.includes(".") ? text.replace(/\.?0+(?=e|$)/, "") : text;
}

// No more than can be read off: 13,710 % says it, 13,709.8 % does not say it better.
export function percentSize(value: number): string {
  const text =
    Math.abs(value) < 1000 ? fixed(value, 1) : Math.round(value).toLocaleString("en").replace("-", "−");
  return `${text}\u00a0%`;
}

export function percent(value: number): string {
  return `${value > 0 ? "+" : ""}${percentSize(value)}`;
}

export function megaWattMinutes(wattMinutes: number): string {
  return fixed(wattMinutes / 1e6, 3);
}

export function minutes(seconds: number): string {
  return fixed(seconds / 60, Math.abs(seconds) < 600 ? 2 : 1);
}

// "1.02 (0.98 to 1.07)"; only the mean where there is no interval.
export function withInterval(interval: Interval, show: (value: number) => string): string {
  if (interval.low === null || interval.high === null) return show(interval.mean);
  return `${show(interval.mean)} (${show(interval.low)} to ${show(interval.high)})`;
}

export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 60) return `${fixed(seconds, size < 10 ? 2 : 1)} s`;
  if (size < 3600) return `${Math.floor(size / 60)} min ${Math.round(size % 60)} s`;
  return `${Math.floor(size / 3600)} h ${Math.round((size % 3600) / 60)} min`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

// Time of day; a second day is marked, because a day's last jobs end after midnight.
export function clock(seconds: number, withSeconds = true): string {
  const whole = withSeconds ? Math.floor(seconds) : Math.round(seconds / 60) * 60;
  const day = Math.floor(whole / 86400);
  const rest = whole - day * 86400;
  const text = `${two(Math.floor(rest / 3600))}:${two(Math.floor((rest % 3600) / 60))}`;
  const tail = withSeconds ? `:${two(rest % 60)}` : "";
  return `${text}${tail}${day > 0 ? ` (+${day} d)` : ""}`;
}

const kTickSteps_s = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600,
  43200, 86400, 172800, 604800,
];

export function timeTicks(begin_s: number, end_s: number, countMax: number): number[] {
  const wanted = (end_s - begin_s) / Math.max(1, countMax);
  const step = kTickSteps_s.find((candidate) => candidate >= wanted) ?? 604800;
  const ticks: number[] = [];
  // "+ 0" makes a plain zero of -0.
  for (let i = Math.ceil(begin_s / step - 1e-9) + 0; i * step <= end_s + 1e-9; ++i)
    ticks.push(i * step);
  return ticks;
}

export function tickLabel(seconds: number, step_s: number): string {
  if (step_s < 1) return `${clock(seconds)}.${Math.round((seconds % 1) * 10)}`;
  if (seconds === 86400 && step_s >= 60) return "24:00";
  return clock(seconds, step_s < 60);
}

// A text that a spreadsheet would run as a formula gets an apostrophe; numbers stay numbers.
function csvCell(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(header: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [header.map(csvCell).join(",")];
  for (const row of rows) lines.push(row.map(csvCell).join(","));
  return `${lines.join("\n")}\n`;
}

export function fileName(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `${name || "data"}.csv`;
}
