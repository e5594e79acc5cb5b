// Two pictures of one size in one: A to the left of a column, B from there on.

export function swiped(
  a: Uint8ClampedArray,
  b: Uint8ClampedArray,
  width: number,
  column: number,
): Uint8ClampedArray<ArrayBuffer> {
  if (a.length !== b.length) throw new RangeError("the pictures differ in size");
  const out = new Uint8ClampedArray(b);
  const left = Math.min(Math.max(Math.round(column), 0), width) * 4;
  for (let at = 0; left && at < out.length; at += width * 4) out.set(a.subarray(at, at + left), at);
  for (let at = 3; at < out.length; at += 4) out[at] = 255;
  return out;
}
