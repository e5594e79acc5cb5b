import { describe, expect, it } from "vitest";
import { extentOf, ranged } from "../src/picture/depth";
import { heat, legendOf, overdrawn, partOf, type Overdraw } from "../src/picture/overdraw";

function overdraw(counts: number[]): Overdraw {
  const most = Math.max(...counts);
  return { address: "f0/d0", over: "draw", draws: 1, left: 0, fragments: 0, pixels: 0, most, width: counts.length, height: 1, counts: Uint32Array.from(counts) };
}

describe("overdraw", () => {
  it("gives small counts a step each, and large ones their logarithm", () => {
    expect([1, 2, 3].map((count) => partOf(count, 3))).toEqual([0, 0.5, 1]);
    expect(partOf(10, 100)).toBeCloseTo(0.5);
    expect(partOf(1, 1)).toBe(1);
    expect(legendOf(3)).toEqual([1, 2, 3]);
    expect(legendOf(1000)[0]).toBe(1);
    expect(legendOf(1000).at(-1)).toBe(1000);
    expect(legendOf(1_000_000).length).toBeLessThanOrEqual(9);
  });

  it("is brighter where there is more, and grey where there is nothing", () => {
    const pixels = new Uint8ClampedArray([200, 100, 50, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
    const shown = overdrawn(pixels, overdraw([0, 1, 4]));
    expect(shown[0]).toBe(shown[2]);
    expect(shown[3]).toBe(255);
    expect(Array.from(shown.subarray(4, 7))).toEqual(heat(0));
    expect(Array.from(shown.subarray(8, 11))).toEqual(heat(1));
  });
});

describe("limits of numbers", () => {
  it("are those of what is finite", () => {
    expect(extentOf(Float32Array.from([NaN, 3, -1, Infinity, -Infinity]))).toEqual([-1, 3]);
    expect(extentOf(Float32Array.from([NaN]))).toEqual([0, 1]);
  });

  it("are black and white; what is beyond them has a colour", () => {
    const shown = ranged(Float32Array.from([1, 3, 2, 0, 4]), [1, 3]);
    const at = (pixel: number): number[] => Array.from(shown.subarray(pixel * 4, pixel * 4 + 4));
    expect(at(0)).toEqual([0, 0, 0, 255]);
    expect(at(1)).toEqual([255, 255, 255, 255]);
    expect(at(2)).toEqual([128, 128, 128, 255]);
    expect(at(3)).toEqual([0, 0, 160, 255]);
    expect(at(4)).toEqual([255, 90, 90, 255]);
  });
});
