// Colours by name; style.css holds the values for light and dark. The eight categorical ones are
// Okabe and Ito's, shifted until each has a contrast of 3:1 with the page; symbols repeat the
// distinction for those who see no colour.

export const kCategories = 8;

const kSymbols = [
  "circle",
  "square",
  "triangle",
  "diamond",
  "star",
  "cross",
  "wye",
  "hexagon",
] as const;

export type PlotSymbol = (typeof kSymbols)[number];

export function category(index: number): string {
  return `var(--c${(index % kCategories) + 1})`;
}

// Symbols go out of step with colours after one round, so 64 policies look different.
export function symbolOf(index: number): PlotSymbol {
  return kSymbols[(index + Math.floor(index / kCategories)) % kSymbols.length];
}

// Ordered shades from coarse layouts (dark in light mode) to fine ones.
export const kShades = 7;

export function shade(index: number, count: number): string {
  if (count <= 1) return "var(--s3)";
  return `var(--s${1 + Math.round((index * (kShades - 1)) / (count - 1))})`;
}

// Canvas does not know CSS variables.
export function resolveColour(host: Element, variable: string): [number, number, number] {
  const text = getComputedStyle(host).getPropertyValue(variable).trim();
  const hex = /^#([0-9a-f]{6})$/i.exec(text)?.[1] ?? "808080";
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

export function rgb([red, green, blue]: [number, number, number]): string {
  return `rgb(${red} ${green} ${blue})`;
}
