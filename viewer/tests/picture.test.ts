import { describe, expect, test } from "vitest";
import { marked, shown, valueOf } from "../src/picture/channels";
import { difference } from "../src/picture/difference";
import { Viewport } from "../src/picture/viewport";

const picture = (width: number, height: number): Uint8ClampedArray<ArrayBuffer> =>
  Uint8ClampedArray.from({ length: width * height * 4 }, (_, at) => (at * 37) % 256);

describe("difference", () => {
  test("equal pictures have none", () => {
    expect(difference(picture(8, 4), picture(8, 4), 8)).toMatchObject({ count: 0, box: null });
  });

  test("a pixel differs by any of its bytes, alpha too", () => {
    const before = picture(8, 4);
    for (const byte of [0, 1, 2, 3]) {
      const after = before.slice();
      after[(2 * 8 + 5) * 4 + byte]! ^= 1;
      const found = difference(before, after, 8);
      expect(found.count).toBe(1);
      expect(found.box).toEqual([5, 2, 5, 2]);
      expect(found.mask[2 * 8 + 5]).toBe(1);
    }
  });

  test("the box holds all that differs", () => {
    const before = picture(8, 4);
    const after = before.slice();
    for (const [x, y] of [[6, 0], [1, 3], [4, 2]] as const) after[(y * 8 + x) * 4]! ^= 255;
    expect(difference(before, after, 8)).toMatchObject({ count: 3, box: [1, 0, 6, 3] });
  });

  test("pictures of two sizes can't be compared", () => {
    expect(() => difference(picture(8, 4), picture(8, 5), 8)).toThrow(RangeError);
  });

  test("only pixels that differ get the mark's colour", () => {
    const before = picture(8, 4);
    const after = before.slice();
    after[4]! ^= 1;
    const out = marked(after, difference(before, after, 8));
    expect([...out.subarray(4, 8)]).toEqual([255, 64, 160, 255]);
    expect(out[0]).toBe(out[1]);
    expect(out[3]).toBe(255);
  });
});

test("colours are opaque, so that a canvas keeps their bytes; channels are grey", () => {
  const pixels = Uint8ClampedArray.from([1, 2, 3, 0, 250, 251, 252, 128]);
  expect([...shown(pixels, "rgb")]).toEqual([1, 2, 3, 255, 250, 251, 252, 255]);
  expect([...shown(pixels, "rgba")]).toEqual([...pixels]);
  expect([...shown(pixels, "g")]).toEqual([2, 2, 2, 255, 251, 251, 251, 255]);
  expect([...shown(pixels, "a")]).toEqual([0, 0, 0, 255, 128, 128, 128, 255]);
  expect([...pixels]).toEqual([1, 2, 3, 0, 250, 251, 252, 128]);
});

test("the value of a pixel is that of its bytes", () => {
  const pixels = Uint8ClampedArray.from([0, 0, 0, 0, 38, 54, 146, 255]);
  expect(valueOf(pixels, 1)).toEqual({ hex: "#263692ff", numbers: " 38  54 146 255" });
});

describe("viewport", () => {
  function view(): Viewport {
    const viewport = new Viewport(400, 240);
    viewport.width = 1000;
    viewport.height = 600;
    viewport.fit();
    return viewport;
  }

  test("fits at a whole step, in the middle", () => {
    expect(view()).toMatchObject({ zoom: 2, left: 100, top: 60 });
  });

  test("points and pixels belong together at every zoom", () => {
    const viewport = view();
    for (const zoom of [1, 2, 8, 64]) {
      viewport.zoomTo(zoom, 500, 300);
      expect(viewport.pixelAt(...viewport.pointOf(200, 120))).toEqual([200, 120]);
    }
    expect(viewport.pixelAt(-100000, 0)).toBeNull();
  });

  test("zooming keeps the pixel below the pointer", () => {
    const viewport = view();
    const before = viewport.pixelAt(333, 222)!;
    viewport.step(1, 333, 222);
    viewport.step(1, 333, 222);
    expect(viewport.pixelAt(333, 222)).toEqual(before);
    for (let step = 0; step < 40; step += 1) viewport.step(1, 333, 222);
    expect(viewport.zoom).toBe(64);
    for (let step = 0; step < 40; step += 1) viewport.step(-1, 333, 222);
    expect(viewport.zoom).toBe(0.125);
  });

  test("some of the picture stays in the box, and a pixel can be brought into it", () => {
    const viewport = view();
    viewport.pan(1e6, -1e6);
    expect(viewport.left).toBe(1000 - 24);
    expect(viewport.top).toBe(24 - 480);
    viewport.zoomTo(16);
    viewport.reveal(399, 239);
    const [x, y] = viewport.pointOf(399, 239);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x).toBeLessThan(1000);
    expect(y).toBeLessThan(600);
  });
});
