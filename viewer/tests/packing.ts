// Answers of arrays, as the server makes them.

type Array_ = [of: string, name: string, type: "f32" | "i32" | "u32", components: number, numbers: number[], rows?: number];

export function packed(header: object, arrays: Array_[]): Uint8Array {
  let size = 0;
  const described = arrays.map(([of, name, type, components, numbers, rows]) => {
    const offset = size;
    size += numbers.length * 4;
    return { of, name, type, components, offset, ...(rows === undefined ? {} : { rows }) };
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: described }));
  const first = 4 + Math.ceil(text.length / 4) * 4;
  const out = new Uint8Array(first + size);
  const view = new DataView(out.buffer);
  view.setUint32(0, text.length, true);
  out.set(text, 4);
  arrays.forEach(([, , type, , numbers], index) => {
    numbers.forEach((value, at) => {
      const place = first + described[index]!.offset + at * 4;
      if (type === "f32") view.setFloat32(place, value, true);
      else view.setInt32(place, value, true);
    });
  });
  return out;
}
