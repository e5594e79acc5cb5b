// What differs between two pictures of the same size.

export interface Difference {
  /** How many pixels differ. */
  count: number;
  /** 1 where a pixel differs. */
  mask: Uint8Array;
  /** The smallest box around them: left, top, right and bottom, all inside; null if none differs. */
  box: [number, number, number, number] | null;
}

/** Compare all four bytes of each pixel. */
export function difference(
  before: Uint8ClampedArray<ArrayBuffer>,
  after: Uint8ClampedArray<ArrayBuffer>,
  width: number,
): Difference {
  if (before.length !== after.length) throw new RangeError("the pictures differ in size");
  const pixels = after.length / 4;
  const mask = new Uint8Array(pixels);
  const one = new Uint32Array(before.buffer, before.byteOffset, pixels);
  const other = new Uint32Array(after.buffer, after.byteOffset, pixels);
  let count = 0;
  let left = width;
  let top = Infinity;
  let right = -1;
  let bottom = -1;
  for (let index = 0; index < pixels; index += 1) {
    if (one[index] === other[index]) continue;
    mask[index] = 1;
    count += 1;
    const x = index % width;
    const y = (index - x) / width;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    bottom = y;
  }
  return { count, mask, box: count ? [left, top, right, bottom] : null };
}
