import { describe, expect, test } from "vitest";
import type { PictureInfo } from "../src/shared/api";
import { addressOf, pixelOf } from "../src/picture/source";

const info = (addresses: PictureInfo["addresses"], width = 400, height = 240): PictureInfo => ({
  name: "target", kind: "colour", title: "", width, height, addresses,
});

describe("addresses of pixels", () => {
  test("a screen counts like its picture, and has two names", () => {
    const top = info({ places: ["f1/top", "f1"], first: [0, 0], turn: [[1, 0], [0, 1]] });
    expect(addressOf(top, 8, 9)).toBe("f1/top/px8,9");
    expect(pixelOf(top, "f1/top/px8,9")).toEqual([8, 9]);
    expect(pixelOf(top, "f1/px8,9")).toEqual([8, 9]);
    expect(pixelOf(top, "f1/bottom/px8,9")).toBeNull();
    expect(pixelOf(top, "f1/d2/px8,9")).toBeNull();
    expect(pixelOf(top, "f1/px400,9")).toBeNull();
    expect(pixelOf(top, "f1/top")).toBeNull();
  });

  test("turned and mirrored targets are found again", () => {
    for (const turn of [[[1, 0], [0, -1]], [[0, -1], [1, 0]], [[0, 1], [-1, 0]], [[-1, 0], [0, -1]]] as const) {
      const first: [number, number] = [turn[0][0] + turn[0][1] < 0 ? 500 : 0, turn[1][0] + turn[1][1] < 0 ? 500 : 0];
      const target = info({ places: ["f1/d2"], first, turn: [[...turn[0]], [...turn[1]]] });
      const address = addressOf(target, 30, 20)!;
      expect(address).toMatch(/^f1\/d2\/px\d+,\d+$/);
      expect(pixelOf(target, address)).toEqual([30, 20]);
    }
  });

  test("without addresses there are none", () => {
    expect(addressOf(info(null), 1, 2)).toBeNull();
    expect(pixelOf(info(null), "f1/d2/px1,2")).toBeNull();
  });
});
