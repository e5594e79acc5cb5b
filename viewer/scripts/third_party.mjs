// Writes THIRD-PARTY.txt beside the page and beside the widget: every library in it, with its version and its licence.

import { readFileSync, readdirSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";

const root = new URL("..", import.meta.url).pathname;
const modules = join(root, "node_modules");
const page = join(root, "../src/pocketgpu/view/page");
const widget = join(root, "../src/pocketgpu/notebook/page");

const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const found = new Map();

/** The libraries of some names, with all that they need. */
function withNeeded(names) {
  const all = new Set();
  const open = [...names];
  while (open.length) {
    const name = open.pop();
    // Packages of types leave nothing in the page.
    if (all.has(name) || name.startsWith("@types/")) continue;
    all.add(name);
    open.push(...read(name));
  }
  return [...all].sort();
}

/** What a library needs; it is then among those that were found. */
function read(name) {
  const folder = join(modules, name);
  const { version, license, dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(\.\w+)?$/i.test(one));
  if (!file && !existsSync(folder)) throw new Error(`${name} is not installed`);
  found.set(name, { version, license, text: file ? readFileSync(join(folder, file), "utf8").trim() : null });
  return Object.keys(dependencies);
}

// Some packages come without a text. Then it's here: in licences/, from the project's source, or in another package of
// the same project.
const KIN = { "@lit-labs/ssr-dom-shim": "lit" };

function textOf(name) {
  const kept = join(root, "licences", `${name}.txt`);
  return existsSync(kept) ? readFileSync(kept, "utf8").trim() : found.get(KIN[name])?.text;
}

function write(folder, what, names) {
  const parts = [`${what} contains these libraries.\n`];
  for (const name of names) {
    const { version, license, text } = found.get(name);
    const words = text ?? textOf(name);
    if (!words) throw new Error(`${name} has no licence text`);
    parts.push(`${"=".repeat(78)}\n${name} ${version} (${license})\n${"=".repeat(78)}\n\n${words}\n`);
  }
  writeFileSync(join(folder, "THIRD-PARTY.txt"), parts.join("\n"));
  console.log(`THIRD-PARTY.txt: ${names.join(", ")}`);
}

write(page, "The page of `pocketgpu view`", withNeeded(Object.keys(own.dependencies)));
// vite.widget.config.ts refuses others.
write(widget, "The widget of `pocketgpu.notebook`", withNeeded(["lit"]));
