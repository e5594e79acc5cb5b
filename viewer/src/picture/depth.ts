// Pictures of one number for each pixel, such as depth, as grey between two limits.

import type { Asker } from "../shared/asker";
import { unpack } from "../shared/packed";

export interface NumberPicture {
  name: string;
  width: number;
  height: number;
  values: Float32Array;
  /** The least and the greatest finite number. */
  extent: Limits;
}

export type Limits = [number, number];

export async function readNumbers(asker: Asker, at: string, of: string, signal: AbortSignal): Promise<NumberPicture> {
  const { header, columns } = unpack<{ name: string; width: number; height: number }>(
    await asker.bytes("/api/numbers", "numbers", { at, of }, signal),
  );
  const found = columns[0]?.values;
  const values = found instanceof Float32Array ? found : new Float32Array(header.width * header.height);
  return { ...header, values, extent: extentOf(values) };
}

export function extentOf(values: Float32Array): Limits {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** Grey from black (the first limit) to white (the second); blue below, red above, so that nothing hides there. */
export function ranged(values: Float32Array, [low, high]: Limits): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray(values.length * 4);
  const scale = 255 / (high - low || 1);
  for (let index = 0, at = 0; index < values.length; index += 1, at += 4) {
    const level = (values[index]! - low) * scale;
    out[at] = out[at + 1] = out[at + 2] = level;
    if (level < -0.5) out[at + 2] = 160;
    else if (level > 255.5) out[at + 1] = out[at + 2] = 90;
    out[at + 3] = 255;
  }
  return out;
}
