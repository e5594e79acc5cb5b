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
  /** How many rows there are, if the array has runs of equal numbers: their lengths, and then the numbers. */
  rows?: number;
}

const WORD = 4;
const LONG = 32;
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
  const columns = arrays.map(({ of, name, type, components, offset, rows }, index) => {
    const size = (arrays[index + 1]?.offset ?? end) - offset;
    const values = new KINDS[type](buffer, first + offset, size / WORD);
    return { of, name, components, values: rows === undefined ? values : expanded(values, rows * components) };
  });
  return { header: header as Header, columns };
}

/** The numbers of runs. */
function expanded(values: Numbers, count: number): Numbers {
  const runs = values.length >> 1;
  const lengths = new Uint32Array(values.buffer, values.byteOffset, runs);
  // Bits, so that a NaN keeps its own.
  const words = new Uint32Array(values.buffer, values.byteOffset + runs * WORD, runs);
  const out = new Uint32Array(count);
  for (let run = 0, at = 0; run < runs; run += 1) {
    const word = words[run]!;
    const end = at + lengths[run]!;
    // A call takes as long as some rounds of a loop.
    if (end - at > LONG) out.fill(word, at, end);
    else for (let one = at; one < end; one += 1) out[one] = word;
    at = end;
  }
  return values instanceof Uint32Array ? out : new (values.constructor as new (buffer: ArrayBuffer) => Numbers)(out.buffer);
}
