// A stand-in for pocketgpu: it prints and writes what the commands do, as the test's environment says.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [command, ...rest] = process.argv.slice(2);
const say = (value) => process.stdout.write(`${value}\n`);
if (command === "check") {
  if (rest[0].includes("broken")) {
    process.stderr.write("error: the capture is damaged\n");
    process.exit(3);
  }
  const one = { confidence: "documented", source: "a page", hint: "Do this." };
  say(JSON.stringify({
    findings: [
      { ...one, rule: "target.size", severity: "error", message: "the target\nis <b>too</b> large", at: "f1/d17", count: 3 },
      { ...one, rule: "list.endless", severity: "note", message: "a list", at: "list 0x20000000", count: 1 },
    ],
  }));
  process.exit(1);
} else if (command === "render") {
  const frame = Number(rest[rest.indexOf("--frames") + 1].split("-")[0]);
  if (frame > 2) process.exit(4);
  const out = rest[rest.indexOf("--out") + 1];
  mkdirSync(out, { recursive: true });
  for (const screen of ["top", "bottom"]) writeFileSync(join(out, `f${frame}.${screen}.png`), "x");
} else if (command === "view") {
  say(`${rest[0]} is shown at\n\n    http://127.0.0.1:4711/?key=a#${rest[1] ?? ""}\n\nCtrl-C ends it.`);
  setTimeout(() => {}, 60_000);
} else process.exit(2);
