// Prints the size of the page's files, as they are and compressed.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const page = new URL("../../src/pocketgpu/view/page/", import.meta.url).pathname;
let whole = 0;
for (const name of readdirSync(page, { recursive: true }).sort()) {
  if (!/\.(js|css|html|svg)$/.test(name)) continue;
  const bytes = readFileSync(join(page, name));
  const small = gzipSync(bytes, { level: 9 }).length;
  whole += small;
  console.log(`${name}: ${bytes.length} bytes, ${small} gzipped`);
}
console.log(`all: ${whole} bytes gzipped`);
