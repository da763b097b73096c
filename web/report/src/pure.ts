// The functions that need no browser, gathered for the unit tests.

export * from "./format";
export * from "./gantt_model";
export * from "./series";
export * from "./validate";
export { boundText, byEt, differenceRange, headlineCsv, summary, verdictKind } from "./headline";
export { moved, nearest } from "./inspect";
export { placeLabels, wantsLog } from "./plotting";
export { etLines, etSteps, nearFront, priceText, rangeText, weightOf } from "./tradeoff";
export { marksOf } from "./across";
export { stackPieces } from "./day_charts";
