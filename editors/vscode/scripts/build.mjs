// One file of the extension and of what it uses, and the licences of the latter.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { build } from "esbuild";

const root = new URL("..", import.meta.url).pathname;
mkdirSync(join(root, "dist"), { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

const names = new Set();
for (const path of Object.keys(metafile.inputs)) {
  const parts = path.split(sep);
  const at = parts.lastIndexOf("node_modules");
  if (at < 0) continue;
  const scoped = parts[at + 1].startsWith("@");
  names.add(parts.slice(0, at + (scoped ? 3 : 2)).join(sep));
}
const texts = ["The extension contains these libraries.\n"];
for (const folder of [...names].sort()) {
  const own = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e(\.\w+)?$/i.test(one));
  if (!file || !existsSync(join(root, folder, file))) throw new Error(`${own.name} has no licence text`);
  const line = "=".repeat(78);
  const text = readFileSync(join(root, folder, file), "utf8").trim();
  texts.push(`${line}\n${own.name} ${own.version} (${own.license})\n${line}\n\n${text}\n`);
}
writeFileSync(join(root, "dist", "THIRD-PARTY.txt"), texts.join("\n"));
