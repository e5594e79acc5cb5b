// Two sides: aligned events, the picture of both, and what is another way in B.

import { expect, test } from "vitest";
import { Alignment } from "../src/compare/alignment";
import type { AlignedRow } from "../src/compare/api";
import { swiped } from "../src/compare/swipe";
import { NOTHING, choiceIn, isNothing, read, same, withChoice, withForce, without } from "../src/whatif/changes";

const ROWS: AlignedRow[] = [
  [0, null, 0, null, "equal", "load", "load 4 bytes", "load 4 bytes"],
  [1, 0, 1, 0, "equal", "draw", "draw 0", "draw 0"],
  [null, null, 2, 1, "only b", "draw", null, "draw 1: more"],
  [2, 1, 3, 2, "commands", "draw", "draw 1", "draw 2"],
  [3, 2, null, null, "only a", "draw", "draw 2", null],
  [4, 3, 4, 3, "state", "draw", "draw 3", "draw 3"],
];

function alignment(): Alignment {
  return new Alignment({ frame: 2, columns: [], rows: ROWS, differences: [], left_out: { rows: 0, differences: 0 } });
}

test("rows have the addresses of both sides", () => {
  const { rows } = alignment();
  expect(rows.map(({ a }) => a)).toEqual(["f2/e0", "f2/d0", null, "f2/d1", "f2/d2", "f2/d3"]);
  expect(rows.map(({ b }) => b)).toEqual(["f2/e0", "f2/d0", "f2/d1", "f2/d2", null, "f2/d3"]);
  expect(rows[3]!.other).toBe("draw 2");
  expect(rows[1]!.other).toBe(null);
  expect(rows[2]!.title).toBe("draw 1: more");
});

test("a place of A leads to that of B, with what is inside it", () => {
  const found = alignment();
  expect(found.counterpart("f2/d1")).toBe("f2/d2");
  expect(found.counterpart("f2/d1/px3,4")).toBe("f2/d2/px3,4");
  expect(found.counterpart("f2/e2/v7")).toBe("f2/d2/v7");
  expect(found.counterpart("f2/d2")).toBe(null);
  expect(found.counterpart("f2/top/px1,2")).toBe("f2/top/px1,2");
  expect(found.counterpart("f3/d0")).toBe(null);
  expect(found.counterpart("f2/p0")).toBe(null);
  expect(found.counterpart("nonsense")).toBe(null);
});

test("rows that differ are found in both directions", () => {
  const found = alignment();
  expect(found.differing).toEqual([2, 3, 4, 5]);
  expect(found.next(-1, 1)).toBe(2);
  expect(found.next(5, 1)).toBe(-1);
  expect(found.next(5, -1)).toBe(4);
  expect(found.next(0, -1)).toBe(-1);
  expect(found.rowOf("f2/e4")).toBe(5);
  expect(found.rowOf("f2")).toBe(-1);
});

test("a swiped picture has A at the left and B at the right, without alpha", () => {
  const a = new Uint8ClampedArray(4 * 6).fill(1);
  const b = new Uint8ClampedArray(4 * 6).fill(2);
  const reds = (column: number): number[] => [...swiped(a, b, 3, column)].filter((_, at) => at % 4 === 0);
  expect(reds(1)).toEqual([1, 2, 2, 1, 2, 2]);
  expect(reds(0)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(reds(99)).toEqual([1, 1, 1, 1, 1, 1]);
  expect([...swiped(a, b, 3, 1)].filter((_, at) => at % 4 === 3)).toEqual([255, 255, 255, 255, 255, 255]);
  expect(() => swiped(a, b.subarray(4), 3, 1)).toThrow(RangeError);
});

test("changes replace those of the same thing, and a choice that A has is none", () => {
  let changes = withChoice(NOTHING, "fog", "wide", "narrow");
  changes = withChoice(changes, "fog", "none", "narrow");
  changes = withForce(changes, "BLEND.r", " 3 ", "f0/d1");
  changes = withForce(changes, "BLEND.r", "4", "f0/d1");
  changes = withForce(changes, "BLEND.r", "5", "f0/d2");
  expect(changes).toEqual({ set: ["fog=none"], force: ["BLEND.r=4@f0/d1", "BLEND.r=5@f0/d2"] });
  expect(choiceIn(changes, "fog", "narrow")).toBe("none");
  expect(choiceIn(changes, "mist", "narrow")).toBe("narrow");
  expect(withChoice(changes, "fog", "narrow", "narrow").set).toEqual([]);
  expect(without(changes, "BLEND.r=4@f0/d1").force).toEqual(["BLEND.r=5@f0/d2"]);
  expect(isNothing(without(withChoice(NOTHING, "fog", "wide", "narrow"), "fog=wide"))).toBe(true);
  expect(same(changes, { ...changes })).toBe(true);
});

test("changes are kept as text, and other texts are none", () => {
  const changes = withChoice(NOTHING, "fog", "wide", "narrow");
  expect(read(JSON.stringify(changes))).toEqual(changes);
  for (const text of [null, "", "[", '{"set": 3, "force": [1, "a=1@f0"]}']) {
    expect(read(text).set).toEqual([]);
  }
});
