// Bytes of memory as cells, spans and meanings; addresses with memory in them; references of lines.

import { expect, test } from "vitest";
import { cellText, letterOf, meanings, parseSpan, rowsOf, spanOf, spanText } from "../src/memory/bytes";
import { cellText as numberText } from "../src/resources/table_view_text";
import { memoryAt, parseAddress, placeOfText, toFragment, fromFragment, findAddresses, withoutMemory } from "../src/shared/address";
import { byLine, keeping } from "../src/why/references_of_lines";

const answer = {
  address: "0x18000000",
  size: 32,
  data: "0000803f" + "00c0ff41" + "0100ff7f" + "00000080" + "00".repeat(16),
  mapped: [{ address: "0x18000000", size: 20 }],
};

test("rows of an answer know which bytes are memory", () => {
  const rows = rowsOf(answer);
  expect(rows).toHaveLength(2);
  expect(Array.from(rows[1]!.known)).toEqual([1, 1, 1, 1, ...Array(12).fill(0)]);
});

test("a cell is a byte, a word or a float, the lowest byte first", () => {
  const [row, other] = rowsOf(answer);
  expect(cellText(row!, 3, "bytes")).toBe("3f");
  expect(cellText(row!, 4, "u32")).toBe("41ffc000");
  expect(cellText(row!, 6, "u16")).toBe("41ff");
  expect(cellText(row!, 0, "f32")).toBe("1");
  expect(cellText(row!, 12, "f32")).toBe("-0");
  expect(cellText(row!, 8, "f16")).toBe("5.9605e-8");
  expect(cellText(row!, 10, "f16")).toBe("NaN");
  expect(cellText(other!, 4, "bytes")).toBe("··");
  expect(cellText(other!, 4, "u32")).toBe("········");
});

test("only letters of ASCII are letters", () => {
  const [row] = rowsOf({ ...answer, data: "41007f20" + "00".repeat(28) });
  expect([0, 1, 2, 3].map((at) => letterOf(row!, at))).toEqual(["A", ".", ".", " "]);
});

test("bytes have meanings as far as there are enough of them", () => {
  expect(meanings(Uint8Array.from([255])).map((one) => one.name)).toEqual(["u8"]);
  const all = Object.fromEntries(meanings(Uint8Array.from([255, 255, 255, 255])).map((one) => [one.name, one.text]));
  expect(all).toEqual({ u8: "255", u16: "65535", f16: "NaN", u32: "4294967295 (0xffffffff)", i32: "-1", f32: "NaN" });
});

test("a span has both of its ends, in whichever order they were chosen", () => {
  expect(spanOf(8, 16, 4)).toEqual({ address: 8, size: 12 });
  expect(spanOf(16, 8, 4)).toEqual({ address: 8, size: 12 });
  expect(spanText({ address: 0x1000, size: 16 })).toBe("0x00001000+0x10");
});

test("addresses of memory by hand", () => {
  expect(parseSpan("0x18000000")).toEqual({ address: 0x18000000, size: 1 });
  expect(parseSpan(" 18000000 + 40 ")).toEqual({ address: 0x18000000, size: 0x40 });
  expect(parseSpan("501364000+0x2c0")).toEqual({ address: 0x501364000, size: 0x2c0 });
  for (const wrong of ["", "0x", "x", "-1", "0x18000000+", "12345678901"]) expect(parseSpan(wrong)).toBeNull();
});

test("memory is a part of an address, and no part of its place", () => {
  const address = memoryAt("f0/d3", 0x18000000, 16);
  expect(address).toBe("f0/d3/mem0x18000000+0x10");
  expect(parseAddress(address)).toEqual({ frame: 0, draw: 3, memory: { address: 0x18000000, size: 16 } });
  expect(placeOfText(address)).toBe("f0/d3");
  expect(withoutMemory(address)).toBe("f0/d3");
  expect(withoutMemory("f0/d3/px1,2")).toBe("f0/d3/px1,2");
  expect(memoryAt("f0", 1)).toBe("f0/mem0x1");
  expect(parseAddress("f0/mem0x1/mem0x2")).toBeNull();
  expect(parseAddress("f0/mem12")).toBeNull();
  expect(toFragment(address)).toBe("#f0/d3/mem0x18000000+0x10");
  expect(fromFragment(toFragment(address))).toBe(address);
  expect(findAddresses(`at ${address}.`).map((piece) => piece.address)).toEqual([undefined, address, undefined]);
});

test("a line's references are found by its number", () => {
  const found = byLine([{ line: 3, at: "f0/d1", register: "A" }, { line: 3, at: "f0/d1", register: "B" }]);
  expect(found.get(3)!.map((one) => one.register)).toEqual(["A", "B"]);
  expect(found.get(2)).toBeUndefined();
  expect(byLine().size).toBe(0);
});

test("a selected pixel stays selected if it is in the place of a reference", () => {
  expect(keeping("f0/d4", "f0/d4/px3,3")).toBe("f0/d4/px3,3");
  expect(keeping("f0/d4", "f0/d5/px3,3")).toBe("f0/d4");
});

test("numbers of tables fit into a column", () => {
  expect([1, 0.1234567891, 12345678.5, 0.00001234, "ff"].map(numberText)).toEqual(["1", "0.1234568", "1.2346e+7", "1.2340e-5", "ff"]);
});
