import { expect, it } from "vitest";
import { unpack } from "../src/shared/packed";
import { packed } from "./packing";

it("runs of equal numbers become the numbers", () => {
  const one = new Int32Array(new Float32Array([1.5]).buffer)[0]!;
  const { header, columns } = unpack<{ name: string }>(
    packed({ name: "x" }, [
      ["pixels", "rgba", "u32", 1, [2, 40, 7, 9], 42],
      ["pixels", "depth", "i32", 2, [4, 2, one, -1], 3],
      ["pixels", "plain", "u32", 1, [1, 2, 3]],
    ]),
  );
  expect(header.name).toEqual("x");
  expect([...columns[0]!.values]).toEqual([7, 7, ...Array<number>(40).fill(9)]);
  expect([...columns[1]!.values]).toEqual([one, one, one, one, -1, -1]);
  expect(columns[1]!.components).toEqual(2);
  expect([...columns[2]!.values]).toEqual([1, 2, 3]);
});
