// Reads an OpenAPI document and prints what the recommended rules of Redocly find in it; exit 1
// when that is anything.
//   node lint.mjs FILE
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { readFileSync } from "node:fs";

const source = readFileSync(process.argv[2], "utf8");
const config = await createConfig({ extends: ["recommended-strict"] });
const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
for (const problem of problems) {
  const place = problem.location.map((each) => each.pointer ?? "").join(" ");
  console.log(`${problem.severity} ${problem.ruleId} ${place}: ${problem.message}`);
}
console.log(`${problems.length} problems in ${source.length} bytes`);
process.exit(problems.length > 0 ? 1 : 0);
