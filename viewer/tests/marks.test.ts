import { describe, expect, it } from "vitest";
import { short, worst, type Finding } from "../src/events/marks";
import { EventTree } from "../src/events/tree";

function finding(address: string, severity: Finding["severity"] = "note"): Finding {
  return { address, severity, rule: "r", confidence: "", message: "m", title: "", explanation: "", hint: "", source: "", count: 1 };
}

/** Frame 0: a load, then a pass with a clear and two draws. Frame 1: as many draws as wanted. */
function tree(many = 2): EventTree {
  const found = new EventTree(2, false);
  const columns = ["event", "draw", "pass", "kind", "title"];
  found.load({
    frame: 0, columns, passes: [{ address: "f0/p0", target: "t" }],
    rows: [[0, null, null, "load", "l"], [1, null, 0, "clear", "c"], [2, 0, 0, "draw", "d"], [3, 1, 0, "draw", "d"]],
  });
  found.load({
    frame: 1, columns, passes: [],
    rows: Array.from({ length: many }, (_, n) => [n, n, null, "draw", `d${n}`] as [number, number, null, string, string]),
  });
  return found;
}

describe("findings in the tree", () => {
  it("are at their events, and add up at passes and frames", () => {
    const found = tree();
    found.setMarks(0, [finding("f0/d1", "error"), finding("f0/e1"), finding("f0", "warning"), finding("f0/e0")]);
    found.setOpen(0, true);
    const rows = Array.from({ length: found.count }, (_, row) => found.row(row)!);
    const count = (address: string): number => rows.find((row) => row.address === address)!.findings.length;
    expect(["f0", "f0/p0", "f0/d0", "f0/d1", "f0/e1"].map(count)).toEqual([4, 2, 0, 1, 1]);
    expect(worst(found.findingsAt("f0/p0"))).toBe("error");
    expect(found.findingsAt("f0/d1/px3,4")).toHaveLength(1);
    expect(found.findingsAt("f1")).toEqual([]);
  });

  it("are filtered with what is around them", () => {
    const found = tree();
    found.setMarks(0, [finding("f0/d1")]);
    found.setFilter({ text: "", drawsOnly: false, findingsOnly: true });
    expect(found.totals.found).toBe(1);
    found.setMarks(1, [finding("f1/d0")]);
    expect(found.totals.found).toBe(2);
  });

  it("are walked in order, over frames", () => {
    const found = tree();
    found.setMarks(0, [finding("f0"), finding("f0/d1"), finding("f0/e1")]);
    found.setMarks(1, [finding("f1/d1")]);
    const walk = ["f0/e1"];
    for (let next = found.nextFinding(walk[0]!, 1); next; next = found.nextFinding(next, 1)) walk.push(next);
    expect(walk).toEqual(["f0/e1", "f0/d1", "f1/d1"]);
    expect(found.nextFinding("f1/d0", -1)).toBe("f0/d1");
    expect(found.nextFinding("f0/e1", -1)).toBe("f0");
    expect(found.nextFinding("f0", 1)).toBe("f0/e1");
  });
});

describe("costs in the tree", () => {
  const costs = (events: number[]) => {
    const table = (factor: number) => new Map(events.map((event) => [event, event * factor]));
    return { vertices: table(3), primitives: table(1), fragments: table(100) };
  };

  it("are those of draws, and sums at passes and frames", () => {
    const found = tree();
    found.setCosts(0, costs([2, 3]));
    found.setOpen(0, true);
    const rows = Array.from({ length: found.count }, (_, row) => found.row(row)!);
    const of = (address: string): number | undefined => rows.find((row) => row.address === address)!.costs?.fragments;
    expect(["f0", "f0/p0", "f0/d1", "f0/e1"].map(of)).toEqual([500, 500, 300, undefined]);
    expect(found.most).toEqual({ vertices: 9, primitives: 3, fragments: 300 });
  });

  it("and findings of 100,000 events are added up", () => {
    const many = 100_000;
    const found = tree(many);
    found.setCosts(1, costs(Array.from({ length: many }, (_, n) => n)));
    found.setMarks(1, Array.from({ length: 50 }, (_, n) => finding(`f1/d${n * 1000}`)));
    expect(found.most.fragments).toBe(100 * (many - 1));
    expect(found.findingsAt("f1")).toHaveLength(50);
  });

  it("are written short", () => {
    expect([0, 999, 1000, 12_345, 1_500_000].map(short)).toEqual(["0", "999", "1.0k", "12k", "1.5M"]);
  });
});
