import { describe, expect, it } from "vitest";
import { splitStep } from "../src/shared/address";
import { backEdges, drawn, layersOf, layOut } from "../src/shared/graph_layout";

const BLOCK = { width: 216, height: 58 };
import { Newest } from "../src/shader/newest";
import { byProgram } from "../src/shared/runs";
import { chosenIn, holdsFor, namesRun, placeFor, rangeOf, runOf } from "../src/shader/programs";
import { groupsOf, linesOf, shownAs } from "../src/shader/registers";

const later = (): Promise<void> => new Promise((done) => setTimeout(done));

describe("addresses of runs", () => {
  const vertex = { program: "vertex program", address: "f0/d1", parts: [{ letter: "v", name: "vertex", limits: [24] }] };
  const thread = {
    program: "program",
    address: "f0/e9",
    parts: [
      { letter: "b", name: "block", limits: [8, 1, 1] },
      { letter: "t", name: "thread", limits: [32, 1, 1] },
    ],
  };
  const primitive = { program: "geometry program", address: "f0/d1", parts: [{ letter: "t", name: "primitive", limits: [null] }] };

  it("split a step off", () => {
    expect(splitStep("f0/d1/v3/s12")).toEqual({ run: "f0/d1/v3", step: 12 });
    expect(splitStep("f0/d1/v3")).toEqual({ run: "f0/d1/v3", step: null });
    expect(splitStep("f0/screen")).toEqual({ run: "f0/screen", step: null });
  });

  it("say what is asked about", () => {
    expect(placeFor("f0/d1/v3")).toBe("f0/d1");
    expect(placeFor("f0/e9/b0,0,0/t3,0,0")).toBe("f0/e9");
    expect(placeFor("f0/top/px3,4")).toBe("f0/top/px3,4");
    expect(placeFor("f0/d1/px3,4")).toBe("f0/d1/px3,4");
    expect(placeFor("f0/d1/t8")).toBe("f0/d1/t8");
    expect(placeFor("f0/e9/px3,4/s5")).toBe("f0/e9/px3,4");
    expect(placeFor("f0/p1/px3,4")).toBeNull();
    expect(placeFor("f0")).toBeNull();
    expect(placeFor("nonsense")).toBeNull();
  });

  it("name a run or not", () => {
    expect(namesRun("f0/d1/v3", [vertex])).toBe(true);
    expect(namesRun("f0/d1", [vertex])).toBe(false);
    expect(namesRun("f0/d1/px3,4", [vertex])).toBe(false);
    expect(namesRun("f0/e9/b1,0,0", [thread])).toBe(true);
    expect(namesRun("f0/d1/t3", [primitive])).toBe(true);
    // A primitive has one number, a thread three.
    expect(namesRun("f0/e9/t3", [thread])).toBe(false);
    expect(chosenIn("f0/e9/b1,2,0/t3,0,0", thread)).toEqual(["1,2,0", "3,0,0"]);
  });

  it("hold for the runs that they name", () => {
    const run = { program: "vertex program", address: "f0/d1/v3", parts: [] };
    expect(holdsFor("f0/d1/px3,4", [vertex, run], "f0/d1/v3")).toBe(true);
    expect(holdsFor("f0/d1/px3,4", [vertex, run], "f0/d1/v4")).toBe(false);
    expect(holdsFor("f0/d1", [vertex], "f0/d1/v4")).toBe(true);
    expect(holdsFor("f0/d2/px3,4", [vertex, run], "f0/d1/v3")).toBe(false);
    expect(holdsFor(null, [vertex, run], "f0/d1/v3")).toBe(false);
    expect(byProgram([run, { ...run, program: "other" }, { ...run, address: "f0/d1/v9" }])).toEqual([
      { program: "vertex program", addresses: ["f0/d1/v3", "f0/d1/v9"] },
      { program: "other", addresses: ["f0/d1/v3"] },
    ]);
  });

  it("are made of the fields", () => {
    expect(runOf(vertex, [" 7 "])).toBe("f0/d1/v7");
    expect(runOf(vertex, ["x"])).toBeNull();
    expect(runOf(vertex, [""])).toBeNull();
    expect(runOf(vertex, ["1,2"])).toBeNull();
    expect(runOf(thread, ["1", "3, 0 1"])).toBe("f0/e9/b1,0,0/t3,0,1");
    expect(rangeOf(vertex.parts[0]!)).toBe("0 to 23");
    expect(rangeOf(primitive.parts[0]!)).toBe("0 and up");
  });
});

describe("values", () => {
  it("are read as other types", () => {
    expect(shownAs("0x3f800000", "0x3f800000", "float")).toBe("1");
    expect(shownAs("0xffffffff", "x", "int")).toBe("-1");
    expect(shownAs("0x7fc00000", "x", "float")).toBe("nan");
    expect(shownAs("0xff800000", "x", "float")).toBe("-inf");
    expect(shownAs("0x80000000", "x", "float")).toBe("-0");
    expect(shownAs("0x3dcccccd", "x", "float")).toBe("0.1");
    expect(shownAs("0x4000000000000000", "x", "float")).toBe("2");
    expect(shownAs("0x4000000000000000", "x", "int")).toBe("4611686018427387904");
    expect(shownAs("0x00000005", "five", "typed")).toBe("five");
    expect(shownAs("0x00000005", "five", "hex")).toBe("0x00000005");
  });

  const value = (register: string, word: string, shown = word) => ({ register, kind: "bits", word, shown });

  it("are rows of vectors and of registers", () => {
    const lines = linesOf(
      [
        ["r0.x", "f32", "0x0", "0", null],
        ["r0.y", "f32", "0x0", "0", 4],
        ["CC.carry", "bool", "0x0", "false", null],
        ["R1", "bits", "0x1", "1", 2],
      ],
      [{ before: value("r0.y", "0x0"), after: value("r0.y", "0x3f800000", "1") }],
      "typed",
      null,
      "",
    );
    expect(lines.map((line) => line.name)).toEqual(["r0", "CC.carry", "R1"]);
    expect(lines[0]!.cells.map((cell) => [cell.part, cell.after, cell.written])).toEqual([["x", null, null], ["y", "1", 4]]);
    expect(lines.map((line) => line.changed)).toEqual([true, false, false]);
  });

  it("of pairs are split into their registers", () => {
    const lines = linesOf(
      [
        ["R2", "bits", "0x0", "0", null],
        ["R3", "bits", "0x0", "0", null],
      ],
      [{ before: value("R2:R3", "0x0"), after: value("R2:R3", "0x4000000012345678") }],
      "hex",
      null,
      "",
    );
    expect(lines.map((line) => line.cells[0]!.after)).toEqual(["0x12345678", "0x40000000"]);
  });

  it("can be left out", () => {
    const rows = [["r0.x", "f32", "0x0", "0", null], ["r1.x", "f32", "0x0", "0", null]] as const;
    expect(linesOf(rows.map((row) => [...row]), [], "typed", new Set(["r1.x"]), "").map((line) => line.name)).toEqual(["r1"]);
    expect(linesOf(rows.map((row) => [...row]), [], "typed", null, "R0").map((line) => line.name)).toEqual(["r0"]);
  });

  it("of a step are grouped by their register", () => {
    const groups = groupsOf(["c0.x", "c0.y", "c0.x", "v0.x", "R1", "R2"], (name) => name);
    expect(groups.map(({ name, values }) => [name, values.length])).toEqual([
      ["c0.xy", 2],
      ["c0.x", 1],
      ["v0.x", 1],
      ["R1", 1],
      ["R2", 1],
    ]);
  });
});

describe("the layout of a graph", () => {
  // 0 -> 1 or 2 -> 3 -> 1, and 0 -> 4 beside them.
  const targets = [[1, 2, 4], [3], [3], [1, 4], []];

  it("finds the edges that lead back", () => {
    expect([...backEdges(targets)]).toEqual(["3 1"]);
    expect([...backEdges([[0]])]).toEqual(["0 0"]);
    expect(layersOf(targets, backEdges(targets))).toEqual([0, 1, 1, 2, 3]);
  });

  it("keeps blocks apart and inside", () => {
    const graph = layOut(targets, BLOCK);
    for (const [at, one] of graph.blocks.entries()) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + BLOCK.width).toBeLessThanOrEqual(graph.width);
      expect(one.y + BLOCK.height).toBeLessThanOrEqual(graph.height);
      for (const other of graph.blocks.slice(at + 1)) {
        const apart = Math.abs(one.x - other.x) >= BLOCK.width || Math.abs(one.y - other.y) >= BLOCK.height;
        expect(apart).toBe(true);
      }
    }
  });

  it("has a path for every edge, from block to block", () => {
    const graph = layOut(targets, BLOCK);
    expect(graph.paths).toHaveLength(targets.flat().length);
    for (const path of graph.paths) {
      expect(path.to).toBe(targets[path.from]![path.edge]);
      const [start, end] = [path.points[0]!, path.points.at(-1)!];
      expect(start.y).toBe(graph.blocks[path.from]!.y + BLOCK.height);
      expect(end.y).toBe(graph.blocks[path.to]!.y);
      expect(drawn(path).startsWith(`M${start.x} ${start.y}`)).toBe(true);
      for (const point of path.points) expect(point.x).toBeLessThanOrEqual(graph.width);
    }
    expect(graph.paths.filter((path) => path.back).map((path) => path.from)).toEqual([3]);
  });

  it("has a path for each edge of as many blocks as there can be", () => {
    const many = Array.from({ length: 400 }, (_, at) => [Math.min(399, at + 1), (at * 7 + 13) % 400]);
    expect(layOut(many, BLOCK).paths.length).toBe(800);
  });

  it("of nothing is empty", () => {
    expect(layOut([], BLOCK).paths).toEqual([]);
  });
});

describe("the newest question", () => {
  it("leaves out what was wanted in between", async () => {
    const asked: number[] = [];
    const used: number[] = [];
    const newest = new Newest<number, number>(
      async (wanted) => {
        asked.push(wanted);
        await later();
        return wanted * 2;
      },
      (answer) => used.push(answer),
      () => {},
    );
    for (let step = 1; step <= 5; step += 1) newest.want(step);
    await later();
    await later();
    await later();
    expect(asked).toEqual([1, 5]);
    expect(used).toEqual([2, 10]);
    newest.want(6);
    newest.stop();
    await later();
    expect(used).toEqual([2, 10]);
  });

  it("goes on after an error", async () => {
    const failed: unknown[] = [];
    const used: number[] = [];
    const newest = new Newest<number, number>(
      async (wanted) => {
        if (wanted === 1) throw new Error("no");
        return wanted;
      },
      (answer) => used.push(answer),
      (error) => failed.push(error),
    );
    newest.want(1);
    await later();
    newest.want(2);
    await later();
    expect(failed).toHaveLength(1);
    expect(used).toEqual([2]);
  });
});
