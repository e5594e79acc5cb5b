import { expect, test } from "vitest";
import { findAddresses, fromFragment, parseAddress, placeOf, placeOfText, toFragment } from "../src/shared/address";

test("addresses name frames, draws, events, passes and pixels", () => {
  expect(parseAddress("f3")).toEqual({ frame: 3 });
  expect(parseAddress("f3/d17/px8,9")).toEqual({ frame: 3, draw: 17, pixel: [8, 9] });
  expect(parseAddress("f3/e412")).toEqual({ frame: 3, event: 412 });
  expect(parseAddress("f3/top-right/px8,9")).toEqual({ frame: 3, screen: "top-right", pixel: [8, 9] });
  expect(parseAddress("f1/d2/t3/gs4")).toEqual({ frame: 1, draw: 2, rest: ["t3", "gs4"] });
  expect(findAddresses("at f1/d2/t3/tc4 and f1/d2/t3/te12.").map((one) => one.address)).toEqual([undefined, "f1/d2/t3/tc4", undefined, "f1/d2/t3/te12", undefined]);
  expect(parseAddress("f1/e9/b0,1,0/t3,0,0")).toEqual({ frame: 1, event: 9, rest: ["b0,1,0", "t3,0,0"] });
});

test.each(["", "xyz", "d3", "f3/f4", "f3/d1/e2", "f3/px8", "f3/d1,2", "f3/px1,2/px3,4", "f1234567890", "f3/"])(
  "%j is no address",
  (text) => expect(parseAddress(text)).toBeNull(),
);

test("the place leaves out what is inside", () => {
  expect(placeOf(parseAddress("f3/d17/px8,9")!)).toBe("f3/d17");
  expect(placeOf(parseAddress("f3/top/px8,9")!)).toBe("f3");
  expect(placeOf(parseAddress("f3/p2")!)).toBe("f3/p2");
  expect(placeOfText("xyz")).toBe("xyz");
});

test("addresses in a text become links, and other text stays", () => {
  const text = "no primitive of f0/d1, f0/d2/px8,9 covers it; 0xf0 is none, nor is f0.";
  const pieces = findAddresses(text);
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  expect(pieces.filter((piece) => piece.address).map((piece) => piece.address)).toEqual(["f0/d1", "f0/d2/px8,9", "f0"]);
});

test("words that only look like addresses are none", () => {
  for (const text of ["buf0", "f0x", "a/f0/d1", "0x1f3/d2", "f3/q4"]) {
    expect(findAddresses(text).some((piece) => piece.address), text).toBe(false);
  }
});

test("a fragment keeps the address, and holds any text", () => {
  for (const text of ["f1/d17/px8,9", "f0/top/px200,120", "50% <b>", "ä/#"]) {
    expect(fromFragment(toFragment(text))).toBe(text);
  }
  expect(toFragment("f1/d17/px8,9")).toBe("#f1/d17/px8,9");
  expect(fromFragment("#50%")).toBe("50%");
});
