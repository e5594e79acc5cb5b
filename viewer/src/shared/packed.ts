// Answers of many numbers: a header in JSON, and arrays after it, little-endian.

export type Numbers = Float32Array | Int32Array | Uint32Array;

export interface Column {
  /** What each row belongs to. */
  of: string;
  name: string;
  components: number;
  values: Numbers;
}

interface Described {
  of: string;
  name: string;
  type: "f32" | "i32" | "u32";
  components: number;
  offset: number;
}

const WORD = 4;
const KINDS = { f32: Float32Array, i32: Int32Array, u32: Uint32Array };

/** The header and the arrays of an answer; each array ends where the next begins. */
export function unpack<Header>(bytes: Uint8Array | Uint8ClampedArray): { header: Header; columns: Column[] } {
  const buffer = bytes.buffer as ArrayBuffer;
  const start = bytes.byteOffset;
  const length = new DataView(buffer, start).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, start + WORD, length));
  const { arrays, ...header } = JSON.parse(text) as Header & { arrays: Described[] };
  const first = start + WORD + Math.ceil(length / WORD) * WORD;
  const end = start + bytes.byteLength - first;
  const columns = arrays.map(({ of, name, type, components, offset }, index) => {
    const size = (arrays[index + 1]?.offset ?? end) - offset;
    return { of, name, components, values: new KINDS[type](buffer, first + offset, size / WORD) };
  });
  return { header: header as Header, columns };
}
