import { describe, expect, it } from "vitest";
import { madeBy, reads, shownStages, type FlowStage } from "../src/state/flow";

function stage(name: string, from: string[], idle = false): FlowStage {
  const inputs = from.map((one) => ({ name: one, operand: "", stage: one, value: null }));
  const parts = from.length ? [{ name: "rgb", operation: "add", inputs, scale: "", output: null }] : [];
  return { name, parts, output: null, notes: [], idle, program: null };
}

describe("the stages of a draw", () => {
  const stages = [stage("t", []), stage("0", ["t"]), stage("1", ["0"], true), stage("2", ["1"], true), stage("end", ["2"])];

  it("that do nothing can be left out", () => {
    expect(shownStages(stages, false).map(({ name }) => name)).toEqual(["t", "0", "end"]);
    expect(shownStages(stages, true)).toHaveLength(5);
  });

  it("are found past those that do nothing", () => {
    expect(madeBy(stages, "2")).toBe("0");
    expect(madeBy(stages, "t")).toBe("t");
    expect(madeBy(stages, "nowhere")).toBe("nowhere");
    // One that does nothing and reads nothing is where it ends.
    expect(madeBy([stage("a", [], true)], "a")).toBe("a");
    expect(madeBy([stage("a", ["a"], true)], "a")).toBe("a");
  });

  it("are joined where one reads the other", () => {
    expect(reads(stages, stages[4]!, stages[1]!, false)).toBe(true);
    expect(reads(stages, stages[4]!, stages[1]!, true)).toBe(false);
    expect(reads(stages, stages[4]!, stages[3]!, true)).toBe(true);
    expect(reads(stages, stages[1]!, stages[0]!, false)).toBe(true);
  });
});
