// Bytes of memory as rows of cells: in hexadecimal, as words, as floats, and as text.

export const ROW_BYTES = 16;

export const UNITS = {
  bytes: { size: 1, width: 2, title: "bytes, in hexadecimal" },
  u16: { size: 2, width: 4, title: "words of 16 bits, the lowest byte first" },
  u32: { size: 4, width: 8, title: "words of 32 bits, the lowest byte first" },
  f32: { size: 4, width: 13, title: "floats of 32 bits" },
  f16: { size: 2, width: 10, title: "floats of 16 bits" },
} as const;
export type Unit = keyof typeof UNITS;

export interface MemoryRow {
  bytes: Uint8Array;
  /** 1 where there is memory. */
  known: Uint8Array;
}

export interface MemoryAnswer {
  address: string;
  size: number;
  data: string;
  mapped: { address: string; size: number }[];
}

/** The rows of an answer. */
export function rowsOf(answer: MemoryAnswer): MemoryRow[] {
  const start = parseInt(answer.address, 16);
  const bytes = new Uint8Array(answer.size);
  for (let at = 0; at < answer.size; at += 1) bytes[at] = parseInt(answer.data.slice(2 * at, 2 * at + 2), 16);
  const known = new Uint8Array(answer.size);
  for (const { address, size } of answer.mapped) {
    const first = parseInt(address, 16) - start;
    known.fill(1, first, first + size);
  }
  const rows: MemoryRow[] = [];
  for (let at = 0; at < answer.size; at += ROW_BYTES) {
    rows.push({ bytes: bytes.subarray(at, at + ROW_BYTES), known: known.subarray(at, at + ROW_BYTES) });
  }
  return rows;
}

const half = (word: number): number => {
  const [sign, exponent, part] = [word >> 15 ? -1 : 1, (word >> 10) & 31, word & 1023];
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + part / 1024) : sign * 2 ** -14 * (part / 1024);
};

function floatText(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || value === 0) return Object.is(value, -0) ? "-0" : String(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(4) : String(Number(value.toPrecision(7)));
}

/** The text of the cell that begins at a byte of a row; without memory as dots. */
export function cellText(row: MemoryRow, at: number, unit: Unit): string {
  const { size, width } = UNITS[unit];
  for (let byte = at; byte < at + size; byte += 1) if (!row.known[byte]) return "·".repeat(Math.min(width, 2 * size));
  const view = new DataView(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
  if (unit === "f32") return floatText(view.getFloat32(at, true));
  if (unit === "f16") return floatText(half(view.getUint16(at, true)));
  const value = size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
  return value.toString(16).padStart(width, "0");
}

/** A byte as a letter; a dot where it is none of ASCII. */
export function letterOf(row: MemoryRow, at: number): string {
  const byte = row.bytes[at] ?? 0;
  return row.known[at] && byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : row.known[at] ? "." : " ";
}

/** The meaning of up to four bytes, in the usual types. */
export function meanings(bytes: Uint8Array): { name: string; text: string }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = [{ name: "u8", text: String(view.getUint8(0)) }];
  if (bytes.length >= 2) {
    found.push({ name: "u16", text: String(view.getUint16(0, true)) }, { name: "f16", text: floatText(half(view.getUint16(0, true))) });
  }
  if (bytes.length >= 4) {
    found.push(
      { name: "u32", text: `${view.getUint32(0, true)} (0x${view.getUint32(0, true).toString(16)})` },
      { name: "i32", text: String(view.getInt32(0, true)) },
      { name: "f32", text: floatText(view.getFloat32(0, true)) },
    );
  }
  return found;
}

export interface Span {
  address: number;
  size: number;
}

/** The bytes from one cell to another, both included, in whichever order. */
export function spanOf(from: number, to: number, size: number): Span {
  const first = Math.min(from, to);
  return { address: first, size: Math.max(from, to) + size - first };
}

/** "0x18000000", "18000000" or "0x18000000+0x40" as bytes; null for other texts. */
export function parseSpan(text: string): Span | null {
  const match = /^\s*(?:0x)?([0-9a-f]{1,10})(?:\s*\+\s*(?:0x)?([0-9a-f]{1,8}))?\s*$/i.exec(text);
  if (!match) return null;
  return { address: parseInt(match[1]!, 16), size: Math.max(1, parseInt(match[2] ?? "1", 16)) };
}

export function hex(address: number): string {
  return `0x${address.toString(16).padStart(8, "0")}`;
}

export function spanText({ address, size }: Span): string {
  return size === 1 ? hex(address) : `${hex(address)}+0x${size.toString(16)}`;
}
