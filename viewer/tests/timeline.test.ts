import { describe, expect, it } from "vitest";
import { eventAt, hit, lowerBound, moved, reaching, resized, stretches, whole, xOf, zoomed } from "../src/timeline/scale";

describe("the scale of a timeline", () => {
  it("shows all events at first, none wider than 24 pixels", () => {
    expect(whole(1000, 500)).toMatchObject({ first: 0, perPixel: 2 });
    expect(1 / whole(3, 500).perPixel).toBeCloseTo(24);
    expect(whole(0, 0).first).toBe(0);
  });

  it("keeps the event under the pointer when it comes closer", () => {
    const before = whole(10_000, 500);
    const after = zoomed(before, 4, 200);
    expect(eventAt(after, 200)).toBeCloseTo(eventAt(before, 200));
    expect(zoomed(after, 1 / 100, 10)).toMatchObject({ first: 0, perPixel: 20 });
  });

  it("stays within the events", () => {
    const close = zoomed(whole(1000, 100), 10, 50);
    expect(moved(close, -1e6).first).toBe(0);
    const last = moved(close, 1e6);
    expect(last.first + last.perPixel * last.width).toBeCloseTo(1000);
    expect(resized(last, 400).first).toBeLessThanOrEqual(last.first);
  });

  it("brings an event into view, and moves only if it is not", () => {
    const close = zoomed(whole(1000, 100), 20, 0);
    expect(reaching(close, 10)).toBe(close);
    const there = reaching(close, 700);
    expect(xOf(there, 700)).toBeGreaterThan(0);
    expect(xOf(there, 701)).toBeLessThan(100);
  });
});

describe("a track", () => {
  it("finds the first number that is not below another", () => {
    expect([0, 2, 3, 9, 10].map((wanted) => lowerBound([2, 3, 9], wanted))).toEqual([0, 0, 1, 2, 3]);
  });

  it("is hit at its events and a little beside them", () => {
    const scale = zoomed(whole(100, 100), 10, 0); // ten pixels an event
    expect(hit(scale, [2, 5], 25)).toBe(2);
    expect(hit(scale, [2, 5], 31)).toBeNull();
    expect(hit(scale, [2, 5], 41, 20)).toBe(5);
    expect(hit(whole(1000, 100), [70], 9, 4)).toBe(70);
    expect(hit(scale, [], 25)).toBeNull();
  });

  it("draws each event once, or one for all in a pixel", () => {
    const scale = zoomed(whole(100, 100), 10, 0);
    expect(stretches(scale, [1, 2, 50]).map((one) => [one.from, one.to, one.first])).toEqual([
      [10, 20, 1],
      [20, 30, 2],
    ]);
    const many = Array.from({ length: 100_000 }, (_, number) => number);
    const far = stretches(whole(100_000, 500), many);
    expect(far.length).toBeLessThanOrEqual(500);
    expect(far[0]!.from).toBe(0);
    expect(far.at(-1)!.to).toBeCloseTo(500);
  });
});
