// Texts of answers: sections of "why", rows of the state, columns of words.

import { expect, test, vi } from "vitest";
import { rowsOf } from "../src/state/rows";
import { describe as describeEvent } from "../src/why/event_answer";
import { linesOf, openSections, sectionsOf } from "../src/why/sections";
import { addressOf, columnsOf } from "../src/words/line";

// The events know the selection, which is the page's address.
vi.hoisted(() => Object.assign(globalThis, { location: { hash: "" }, addEventListener: () => {} }));

const WHY = `f0/px2,1 is #263692: draw 7  f0/d7/t47
  combiner stage 2
proved

pixel at 0x18:
  | f0/d0  draw 0
  |   primitive 0: written
  |     inputs: w 1
  |     texture 0
  |         texel (41, 30)
  | f0/d7  draw 7
f0/e34  display transfer`;

test("deeper lines belong to the line before them", () => {
  const sections = sectionsOf(WHY, ["f0/px2,1 is #263692: draw 7  f0/d7/t47", "  combiner stage 2", "proved"]);
  expect(sections.map((section) => section.line)).toEqual(["pixel at 0x18:", "f0/e34  display transfer"]);
  expect(sections[0]!.parts.map((section) => section.line)).toEqual(["f0/d0  draw 0", "f0/d7  draw 7"]);
  expect(sections[0]!.parts[0]!.parts[0]!.parts[1]!.parts[0]!.line).toBe("texel (41, 30)");
  expect(linesOf(sections[0]!)).toBe(7);
});

test("a text that does not begin with the conclusion stays whole", () => {
  expect(sectionsOf("a\n  b\nc", ["x"]).map((section) => section.line)).toEqual(["a", "c"]);
  expect(sectionsOf("", [])).toEqual([]);
});

const CHANGES = [
  { register: "DEPTH", old: "0x0", new: "0x1", fields: [{ name: "function", old: "never", new: "less" }] },
  { register: "BLEND", old: "0x0", new: "0x2", fields: [] },
];

test("a register has a row, and each of its fields", () => {
  expect(rowsOf(CHANGES, "").map((row) => [row.field, row.name])).toEqual([
    [false, "DEPTH"],
    [true, "function"],
    [false, "BLEND"],
  ]);
});

test("the filter looks at names, fields and values, and keeps registers whole", () => {
  expect(rowsOf(CHANGES, "LESS").map((row) => row.name)).toEqual(["DEPTH", "function"]);
  expect(rowsOf(CHANGES, "blend 0x2").map((row) => row.name)).toEqual(["BLEND"]);
  expect(rowsOf(CHANGES, "blend less")).toEqual([]);
});

test("a word's columns come from an object or from its text", () => {
  const line = {
    address: "0x20040648",
    word: "0x000f000f",
    what: "parameter",
    changed: true,
    register: { id: "0x0c0", name: "TEXENV0_SOURCE", old: "0x00030003", new: "0x000f000f" },
    fields: { rgb0: "15 (previous stage)" },
    effects: ["draw"],
  };
  const columns = columnsOf(line);
  expect(columns).toEqual({
    address: "0x20040648",
    word: "000f000f",
    kind: "",
    changed: true,
    register: "0x0c0 TEXENV0_SOURCE",
    text: "rgb0=15 (previous stage)  was 0x00030003  → draw",
  });
});

test("an event that is no draw tells what it is and what it touches", () => {
  const event = {
    address: "f0/e0",
    title: "load 16 bytes",
    facts: { size: 16, digest: "ab" },
    writes: [{ address: "0x20000000", size: 16 }],
    reads: [],
  };
  const answer = describeEvent(event);
  expect(answer.because).toBe("load 16 bytes");
  expect(sectionsOf(answer.text ?? "").map((section) => [section.line, section.parts.map((part) => part.line)])).toEqual([
    ["size: 16", []],
    ["digest: ab", []],
    ["writes", ["0x20000000+0x10"]],
  ]);
});

test("parts of an event's fact are below its name", () => {
  const facts = { kind: "copy", ids: [1, 2], registers: { OFFSET_IN_LOWER: "0x04940000" }, empty: null };
  const answer = describeEvent({ address: "f0/e1", title: "copy", facts });
  expect(answer.text).toBe("kind: copy\nids: 1, 2\nregisters\n  OFFSET_IN_LOWER: 0x04940000\nempty: null");
});

test("a word whose value is not the word says so, unless it is data", () => {
  const register = { id: "0x200", name: "SET_ZT_SELECT", old: "0x00000000", new: "0x00000001" };
  const immediate = { word: "0x80010200", what: "immediate", register };
  expect(columnsOf(immediate).text).toBe("= 0x00000001  was 0x00000000");
  const data = { word: "0x3f800000", what: "parameter", effects: ["upload"], register: { ...register, old: "0x00000001" } };
  expect(columnsOf(data).text).toBe("→ upload");
  expect(columnsOf({ what: "not_reached", word: "0x00000000" }).kind).toBe("not reached");
});

test("what comes after the last frame has an address", () => {
  expect(addressOf("tail/d3", 60)).toBe("f60/d3");
  expect(addressOf("tail", 60)).toBe("f60");
  expect(addressOf("f1/d3", 60)).toBe("f1/d3");
});

test("sections of the event and the primitive that the reason names are open", () => {
  const sections = sectionsOf(WHY);
  const lines = (reason: string): string[] => [...openSections(sections, reason)].map((section) => section.line);
  expect(lines("draw 7  f0/d7/t47")).toEqual(["f0/d7  draw 7"]);
  expect(lines("draw 0, primitive 0  f0/d0/t0")).toEqual(["f0/d0  draw 0", "primitive 0: written"]);
  expect(lines("draw 0, primitive 1  f0/d0/t1")).toEqual(["f0/d0  draw 0"]);
});

test("where no draw wrote, the last draw that says something is open", () => {
  const sections = sectionsOf(WHY);
  expect([...openSections(sections, "PSC0 fills 0x18  f0/e4")].map((section) => section.line)).toEqual([
    "f0/d0  draw 0",
    "primitive 0: written",
  ]);
});
