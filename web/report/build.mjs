// Builds dist/report.html: one file with the style, the charts and a place for the data inside.
//   node build.mjs [FOLDER]     writes into FOLDER instead of dist
// Beside it pure.mjs, the functions that the unit tests call.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "dist");
const kDataPlace = "__PARTITA_DATA__";

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    write: false,
    minify: true,
    target: ["chrome109", "firefox115", "safari16"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

// Inside <script> only these two would end or confuse it; in strings the backslash is free.
function forScriptElement(script) {
  return script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

// A function as replacement: "$&" in the code must stay as it is.
function fill(template, place, text) {
  if (template.split(place).length !== 2)
    throw new Error(`${place} must occur once in the template`);
  return template.replace(place, () => text);
}

function page(style, script) {
  const hash = createHash("sha256").update(script, "utf8").digest("base64");
  let html = readFileSync(join(here, "src", "template.html"), "utf8");
  html = fill(html, "__SCRIPT_HASH__", `sha256-${hash}`);
  html = fill(html, "__STYLE__", style);
  html = fill(html, "__SCRIPT__", script);
  if (html.split(kDataPlace).length !== 2)
    throw new Error(`${kDataPlace} must occur once in the page`);
  return html;
}

const style = await bundle("style.css", {});
const script = forScriptElement(await bundle("main.ts", { format: "iife" }));
mkdirSync(folder, { recursive: true });
const html = page(style, script);
writeFileSync(join(folder, "report.html"), html);
writeFileSync(join(folder, "pure.mjs"), await bundle("pure.ts", { format: "esm", minify: false }));
console.log(`report.html: ${Buffer.byteLength(html)} bytes`);
