// Overdraw: how many fragments each pixel got, as colours with a legend.

import type { Asker } from "../shared/asker";
import { unpack } from "../shared/packed";

export const OVER = ["draw", "pass", "frame"] as const;
export type Over = (typeof OVER)[number];

export interface Overdraw {
  address: string;
  over: Over;
  draws: number;
  /** Shapes that were left out. */
  left: number;
  fragments: number;
  pixels: number;
  most: number;
  width: number;
  height: number;
  counts: Uint32Array;
}

export async function readOverdraw(asker: Asker, at: string, over: Over, signal: AbortSignal): Promise<Overdraw> {
  const { header, columns } = unpack<Omit<Overdraw, "counts">>(
    await asker.bytes("/api/overdraw", "overdraw", { at, over }, signal),
  );
  const counts = columns[0]?.values;
  return { ...header, counts: counts instanceof Uint32Array ? counts : new Uint32Array(header.width * header.height) };
}

/** From dark to light, with hues that people tell apart who don't see red and green: like "viridis". */
const STOPS: [number, number, number][] = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37],
];

/** The colour of a part of the most, 0 to 1. */
export function heat(part: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, part)) * (STOPS.length - 1);
  const index = Math.min(STOPS.length - 2, Math.floor(at));
  const [one, other] = [STOPS[index]!, STOPS[index + 1]!];
  return one.map((value, axis) => Math.round(value + (other[axis]! - value) * (at - index))) as [number, number, number];
}

/** Small counts have a step of colour each; large ones share the scale by their logarithm. */
const MOST_STEPS = 8;

export function partOf(count: number, most: number): number {
  if (most <= 1) return 1;
  return most <= MOST_STEPS ? (count - 1) / (most - 1) : Math.log(count) / Math.log(most);
}

/** The counts that the legend names. */
export function legendOf(most: number): number[] {
  if (most <= MOST_STEPS) return Array.from({ length: most }, (_, index) => index + 1);
  const found = [1];
  for (let count = 2; count < most; count *= 2) found.push(count);
  const step = Math.ceil(found.length / (MOST_STEPS - 1));
  return [...found.filter((_, index) => index % step === 0), most];
}

/** Pixels with colours by their counts; those without a fragment are grey and dark. */
export function overdrawn(pixels: Uint8ClampedArray, { counts, most }: Overdraw): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(counts.length * 4);
  const known = new Map<number, [number, number, number]>();
  for (let index = 0, at = 0; index < counts.length; index += 1, at += 4) {
    const count = counts[index]!;
    if (count) {
      let colour = known.get(count);
      if (!colour) known.set(count, (colour = heat(partOf(count, most))));
      out.set(colour, at);
    } else {
      const grey = (pixels[at]! * 77 + pixels[at + 1]! * 150 + pixels[at + 2]! * 29) / 1024;
      out[at] = out[at + 1] = out[at + 2] = grey;
    }
    out[at + 3] = 255;
  }
  return out;
}
