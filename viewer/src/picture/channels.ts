// Raw pixels become what a canvas shows.

import type { Difference } from "./difference";

export const CHANNELS = ["rgb", "rgba", "r", "g", "b", "a"] as const;
const OPAQUE = 0xff000000;
export type Channel = (typeof CHANNELS)[number];

/** Bytes for putImageData. All but "rgba" are opaque: a canvas would change colours below alpha 255. */
export function shown(pixels: Uint8ClampedArray, channel: Channel): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(pixels);
  if (channel === "rgba") return out;
  if (channel === "rgb") {
    // A pixel at a time, alpha in the highest byte: every computer with a browser has the lowest byte first.
    const words = new Uint32Array(out.buffer);
    for (let at = 0; at < words.length; at += 1) words[at]! |= OPAQUE;
    return out;
  }
  const offset = { r: 0, g: 1, b: 2, a: 3 }[channel];
  for (let at = 0; at < out.length; at += 4) {
    out[at] = out[at + 1] = out[at + 2] = pixels[at + offset]!;
    out[at + 3] = 255;
  }
  return out;
}

/** Pixels that differ stand out in one colour; the others are grey and dark. */
export function marked(pixels: Uint8ClampedArray, found: Difference): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(pixels.length);
  for (let index = 0, at = 0; index < found.mask.length; index += 1, at += 4) {
    if (found.mask[index]) {
      out[at] = 255;
      out[at + 1] = 64;
      out[at + 2] = 160;
    } else {
      // Weights of Rec. 601, a third of the brightness.
      const grey = (pixels[at]! * 77 + pixels[at + 1]! * 150 + pixels[at + 2]! * 29) / 768;
      out[at] = out[at + 1] = out[at + 2] = grey;
    }
    out[at + 3] = 255;
  }
  return out;
}

/** "#263692ff  38 54 146 255" of the pixel at an index. */
export function valueOf(pixels: Uint8ClampedArray, index: number): { hex: string; numbers: string } {
  const bytes = Array.from(pixels.subarray(index * 4, index * 4 + 4));
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { hex: `#${hex}`, numbers: bytes.map((byte) => String(byte).padStart(3)).join(" ") };
}
