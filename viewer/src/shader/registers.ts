// Registers as rows: the components of a vector share one, and every value can be read as a number of another type.

import type { RegisterRow, Value } from "./api";

export const FORMATS = ["typed", "float", "int", "hex"] as const;
export type Format = (typeof FORMATS)[number];

export interface Cell {
  name: string;
  /** The component's letter; empty where the register is no vector. */
  part: string;
  before: string;
  /** Null where the step does not write it. */
  after: string | null;
  kind: string;
  /** The step that wrote the value; null for its first value. */
  written: number | null;
}

export interface RegisterLine {
  name: string;
  cells: Cell[];
  changed: boolean;
}

const COMPONENTS = "xyzw";

/** The stem of a component's name and its letter, "r0.x" to r0 and x; other names have no letter. */
function partsOf(name: string): { stem: string; part: string } {
  const dot = name.indexOf(".");
  const part = dot > 0 ? name.slice(dot + 1) : "";
  return part.length === 1 && COMPONENTS.includes(part) ? { stem: name.slice(0, dot), part } : { stem: name, part: "" };
}

export interface ValueLine<T> {
  name: string;
  values: T[];
}

/** Values of a step in lines: components of one register that follow each other share one, "v2.xy". */
export function groupsOf<T>(values: readonly T[], nameOf: (value: T) => string): ValueLine<T>[] {
  const lines: (ValueLine<T> & { stem: string; parts: string })[] = [];
  for (const value of values) {
    const { stem, part } = partsOf(nameOf(value));
    const last = lines.at(-1);
    if (part && last?.parts && last.stem === stem && !last.parts.includes(part)) {
      last.parts += part;
      last.name += part;
      last.values.push(value);
    } else lines.push({ name: nameOf(value), values: [value], stem, parts: part });
  }
  return lines;
}

/** A word as text. `typed` is what the server says, by the type that the program uses the register as. */
export function shownAs(word: string, typed: string, format: Format): string {
  if (format === "typed") return typed;
  if (format === "hex") return word;
  let bits: bigint;
  try {
    bits = BigInt(word);
  } catch {
    return typed;
  }
  const size = word.length > 10 ? 64 : 32;
  if (format === "int") return BigInt.asIntN(size, bits).toString();
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, size === 32 ? bits << 32n : bits);
  return number(size === 32 ? view.getFloat32(0) : view.getFloat64(0));
}

/** Seven digits, as the server writes floats. */
function number(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (Object.is(value, -0)) return "-0";
  return String(Number(value.toPrecision(7)));
}

/**
 * The rows of registers at a step.
 *
 * writes: what the step writes; a pair of registers is written as one value. only: names of the registers to show, or
 * null for all. filter: words that the names must hold.
 */
export function linesOf(
  registers: readonly RegisterRow[],
  writes: readonly { before: Value; after: Value }[],
  format: Format,
  only: ReadonlySet<string> | null,
  filter: string,
): RegisterLine[] {
  const after = new Map<string, { word: string; typed: string }>();
  for (const { after: value } of writes) {
    const names = value.register.split(":");
    for (const [at, name] of names.entries()) after.set(name, wordOf(value, names.length, at));
  }
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const lines = new Map<string, RegisterLine>();
  for (const [name, kind, word, shown, written] of registers) {
    if (only && !only.has(name)) continue;
    const { stem, part } = partsOf(name);
    if (wanted.length && !wanted.some((one) => stem.toLowerCase().includes(one))) continue;
    const changed = after.get(name);
    const cell: Cell = {
      name,
      part,
      before: shownAs(word, shown, format),
      after: changed ? shownAs(changed.word, changed.typed, format) : null,
      kind,
      written,
    };
    const line = lines.get(stem) ?? { name: stem, cells: [], changed: false };
    line.cells.push(cell);
    line.changed ||= changed !== undefined;
    lines.set(stem, line);
  }
  return [...lines.values()];
}

/** The word of one register of a value that has several: the lower one comes first. */
function wordOf(value: Value, count: number, at: number): { word: string; typed: string } {
  if (count === 1) return { word: value.word, typed: value.shown };
  const digits = value.word.replace(/^0x/, "").padStart(8 * count, "0");
  const word = "0x" + digits.slice(8 * (count - 1 - at), 8 * (count - at));
  return { word, typed: word };
}
