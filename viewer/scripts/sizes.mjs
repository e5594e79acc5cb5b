// Prints the size of the files of the page and of the widget, as they are and compressed.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

for (const place of ["view", "notebook"]) {
  const page = new URL(`../../src/pocketgpu/${place}/page/`, import.meta.url).pathname;
  let whole = 0;
  for (const name of readdirSync(page, { recursive: true }).sort()) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue;
    const bytes = readFileSync(join(page, name));
    const small = gzipSync(bytes, { level: 9 }).length;
    whole += small;
    console.log(`${name}: ${bytes.length} bytes, ${small} gzipped`);
  }
  console.log(`all of ${place}: ${whole} bytes gzipped`);
}
