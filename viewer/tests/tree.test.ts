import { describe, expect, test } from "vitest";
import type { EventsAnswer } from "../src/shared/api";
import { EVENT, EventTree, FRAME, PASS, WAITING } from "../src/events/tree";

const COLUMNS = ["event", "draw", "pass", "kind", "title"];

/** Two passes of `draws` draws each, a clear before each pass, and an event that is in none. */
function answer(frame: number, draws: number): EventsAnswer {
  const rows: EventsAnswer["rows"] = [[0, null, null, "load", "load 16 bytes"]];
  for (const pass of [0, 1]) {
    rows.push([rows.length, null, pass, "clear", `clear ${pass}`]);
    for (let draw = 0; draw < draws; draw += 1) {
      rows.push([rows.length, pass * draws + draw, pass, "draw", `draw ${pass * draws + draw}: triangles`]);
    }
  }
  const passes = [0, 1].map((pass) => ({ address: `f${frame}/p${pass}`, target: `target ${pass}` }));
  return { frame, passes, columns: COLUMNS, rows };
}

function opened(draws = 3): EventTree {
  const tree = new EventTree(2, true);
  tree.load(answer(0, draws));
  tree.setOpen(0, true);
  return tree;
}

const titles = (tree: EventTree): string[] => Array.from({ length: tree.count }, (_, row) => tree.row(row)!.title);

test("the draws beside a place are in its frame, and no other events count", () => {
  const tree = opened(2);
  const beside = (address: string): (string | null)[] => [tree.drawBeside(address, -1), tree.drawBeside(address, 1)];
  expect(beside("f0")).toEqual(["f0/d3", "f0/d0"]);
  expect(beside("f0/d1")).toEqual(["f0/d0", "f0/d2"]);
  expect(beside("f0/d1/px3,4")).toEqual(["f0/d0", "f0/d2"]);
  expect(beside("f0/d0")).toEqual([null, "f0/d1"]);
  expect(beside("f0/d3")).toEqual(["f0/d2", null]);
  // The clear before the second pass.
  expect(beside("f0/e4")).toEqual(["f0/d1", "f0/d2"]);
  for (const address of ["f1", "f9/d0", "nowhere", ""]) expect(beside(address)).toEqual([null, null]);
});

test("frames come first, with the rest after the last one", () => {
  expect(titles(new EventTree(2, true))).toEqual(["frame 0", "frame 1", "after the last frame"]);
});

test("an opened frame waits for its events and then shows passes and events", () => {
  const tree = new EventTree(2, false);
  expect(tree.setOpen(0, true)).toBe(0);
  expect(tree.row(1)!.type).toBe(WAITING);
  tree.load(answer(0, 1));
  expect(Array.from({ length: 6 }, (_, row) => tree.row(row)!.type)).toEqual([FRAME, EVENT, PASS, EVENT, EVENT, PASS]);
  expect(tree.row(0)!.counts).toBe("2 d · 5 e");
  expect(tree.row(2)).toMatchObject({ address: "f0/p0", title: "target 0", level: 2, counts: "1 d · 2 e" });
  expect(tree.row(3)).toMatchObject({ address: "f0/e1", kind: "clear", level: 3 });
  expect(tree.row(4)).toMatchObject({ address: "f0/d0", kind: "draw" });
  expect(tree.setOpen(0, false)).toBeNull();
  expect(tree.count).toBe(2);
  expect(tree.setOpen(0, true)).toBeNull();
});

test("columns may come in another order", () => {
  const tree = new EventTree(1, false);
  tree.load({ frame: 0, passes: [], columns: ["title", "kind", "event", "pass", "draw"], rows: [["a", "draw", 7, null, 4]] as never });
  tree.setOpen(0, true);
  expect(tree.row(1)).toMatchObject({ address: "f0/d4", title: "a", kind: "draw" });
});

test("folding a pass hides its events", () => {
  const tree = opened();
  const pass = tree.rowOf("f0/p0");
  tree.setOpen(pass, false);
  expect(tree.row(pass + 1)!.address).toBe("f0/p1");
  expect(tree.rowOf("f0/d1")).toBe(pass);
  expect(tree.reveal("f0/d1")).toBeNull();
  expect(tree.row(tree.rowOf("f0/d1"))!.address).toBe("f0/d1");
});

test("revealing an address tells which frame is missing", () => {
  const tree = opened();
  expect(tree.reveal("f1/d2")).toBe(1);
  expect(tree.reveal("f1")).toBeNull();
  expect(tree.reveal("f9/d1")).toBeNull();
  expect(tree.rowOf("f9/d1")).toBe(-1);
  expect(tree.rowOf("xyz")).toBe(-1);
});

test("an event is found by its number and by that of its draw", () => {
  const tree = opened();
  expect(tree.rowOf("f0/e3")).toBe(tree.rowOf("f0/d1"));
  expect(tree.rowOf("f0/top/px1,2")).toBe(0);
});

test("the filter keeps what has all words, and says how many", () => {
  const tree = opened();
  tree.setFilter({ text: "DRAW triangles", drawsOnly: false });
  expect(titles(tree).filter((title) => title.startsWith("clear"))).toEqual([]);
  expect(tree.row(0)!.counts).toBe("6 of 9");
  tree.setFilter({ text: "clear 1", drawsOnly: false });
  expect(titles(tree)).toEqual(["frame 0", "target 1", "clear 1", "frame 1", "after the last frame"]);
  expect(tree.totals).toEqual({ found: 1, events: 9, draws: 6, unread: 2 });
  tree.setFilter({ text: "", drawsOnly: true });
  expect(tree.totals.found).toBe(6);
  tree.setFilter({ text: "", drawsOnly: false });
  expect(tree.count).toBe(3 + 2 + 9);
});

test("a frame that is read later is filtered as well", () => {
  const tree = new EventTree(1, false);
  tree.setFilter({ text: "", drawsOnly: true });
  tree.load(answer(0, 2));
  tree.setOpen(0, true);
  expect(titles(tree).some((title) => title.startsWith("clear"))).toBe(false);
});

test("stepping goes from event to event and to folded frames", () => {
  const tree = opened(1);
  const last = tree.rowOf("f0/d1");
  expect(tree.row(tree.nextEvent(0, 1))!.address).toBe("f0/e0");
  expect(tree.nextEvent(last, 1)).toBe(-1);
  expect(tree.row(tree.nextFolded(last, 1))!.address).toBe("f1");
  expect(tree.row(tree.nextEvent(tree.rowOf("f0/d0"), -1))!.address).toBe("f0/e1");
  expect(tree.nextFolded(tree.rowOf("f0/d0"), -1)).toBe(-1);
});

test("the parent of a row is the pass or the frame around it", () => {
  const tree = opened(2);
  expect(tree.row(tree.parentOf(tree.rowOf("f0/d1")))!.address).toBe("f0/p0");
  expect(tree.row(tree.parentOf(tree.rowOf("f0/p1")))!.address).toBe("f0");
  expect(tree.row(tree.parentOf(tree.rowOf("f0/e0")))!.address).toBe("f0");
});

describe("100,000 events", () => {
  const tree = opened(50_000);

  test("all have a row", () => {
    expect(tree.totals.events).toBe(100_003);
    expect(tree.count).toBe(3 + 2 + 100_003);
    expect(tree.row(tree.count - 3)!.address).toBe("f0/d99999");
  });

  test("are filtered, folded and found", () => {
    tree.setFilter({ text: "draw 9", drawsOnly: false });
    const found = tree.totals.found;
    expect(found).toBeGreaterThan(0);
    expect(tree.count).toBeLessThan(100_003);
    tree.setFilter({ text: "", drawsOnly: false });
    expect(tree.count).toBe(3 + 2 + 100_003);
    tree.setOpen(0, false);
    expect(tree.count).toBe(3);
    tree.setOpen(0, true);
    expect(tree.row(tree.rowOf("f0/d99999"))!.address).toBe("f0/d99999");
  });
});

test("it says which addresses are in draws, and nothing about events that are not there", () => {
  const tree = opened();
  expect(["f0/d0", "f0/e2", "f0/d1/v3", "f0/e0", "f0/e1"].map((one) => tree.isDraw(one))).toEqual([true, true, true, false, false]);
  expect(["f0", "f0/p0", "f0/d99", "f1/d0", "f9/d0", "x"].map((one) => tree.isDraw(one))).toEqual([null, null, null, null, null, null]);
});
