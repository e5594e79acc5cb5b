// The script of the notebook's widget: one file with everything in it, as Jupyter loads it from a text.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

const sources = new URL("./src/", import.meta.url).pathname;

/** A digest of all sources: copies with the same one are the same. */
function digest(): string {
  const hash = createHash("sha256");
  const files = readdirSync(sources, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  for (const path of [...files.map((one) => join(one.parentPath, one.name)).sort(), new URL("./package-lock.json", import.meta.url).pathname]) {
    hash.update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 12);
}

/** Libraries that may be in it: THIRD-PARTY.txt names these (scripts/third_party.mjs). */
const LIBRARIES = ["lit", "lit-element", "lit-html", "@lit/reactive-element"];

const known: Plugin = {
  name: "known-libraries",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((one) => (one.type === "chunk" ? Object.keys(one.modules) : []));
    const names = modules.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter((name) => name !== undefined);
    const unknown = names.find((name) => !LIBRARIES.includes(name));
    if (unknown) this.error(`${unknown} is in the widget: THIRD-PARTY.txt has to name it`);
  },
};

export default defineConfig({
  plugins: [known],
  publicDir: false,
  define: { __BUILD__: JSON.stringify(digest()) },
  build: {
    outDir: "../src/pocketgpu/notebook/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: "src/notebook/widget.ts",
      // It is a module for others, not a page.
      preserveEntrySignatures: "strict",
      output: { format: "es", entryFileNames: "widget.js", inlineDynamicImports: true },
    },
  },
});
