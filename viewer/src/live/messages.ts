// Takes the stream of frames apart: two lengths in four bytes each, a head as JSON, pixels.

import type { LiveStatus } from "./api";

export interface Message {
  status: LiveStatus;
  /** Red, green, blue of the rows that changed, of one screen after the other. */
  pixels: Uint8Array;
}

const LENGTHS = 8;
/** More than any console shows: a stream that says more is not one. */
const MOST_BYTES = 64 << 20;

export class Messages {
  private parts: Uint8Array[] = [];
  private size = 0;
  private readonly texts = new TextDecoder();

  /** All messages that are whole with this piece of the stream. */
  push(piece: Uint8Array): Message[] {
    this.parts.push(piece);
    this.size += piece.length;
    const found: Message[] = [];
    for (let message = this.next(); message; message = this.next()) found.push(message);
    return found;
  }

  private next(): Message | null {
    if (this.size < LENGTHS) return null;
    const first = this.joined(LENGTHS);
    const lengths = new DataView(first.buffer, first.byteOffset, LENGTHS);
    const head = lengths.getUint32(0, true);
    const pixels = lengths.getUint32(4, true);
    const whole = LENGTHS + head + pixels;
    if (whole > MOST_BYTES) throw new Error("the stream of frames is damaged");
    if (this.size < whole) return null;
    const data = this.joined(whole);
    const rest = data.subarray(whole);
    this.parts = rest.length ? [rest] : [];
    this.size = rest.length;
    return {
      status: JSON.parse(this.texts.decode(data.subarray(LENGTHS, LENGTHS + head))) as LiveStatus,
      pixels: data.subarray(LENGTHS + head, whole),
    };
  }

  /** What there is as one piece, if the first one has fewer bytes than wanted. */
  private joined(wanted: number): Uint8Array {
    if (this.parts[0]!.length >= wanted) return this.parts.length === 1 ? this.parts[0]! : this.join();
    return this.join();
  }

  private join(): Uint8Array {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    this.parts = [all];
    return all;
  }
}

/** Red, green, blue as the canvas has them, with alpha. */
export function opaque(pixels: Uint8Array, into: Uint8ClampedArray): void {
  const words = new Uint32Array(into.buffer, into.byteOffset, into.length >> 2);
  for (let at = 0, from = 0; at < words.length; at += 1, from += 3) {
    words[at] = 0xff000000 | (pixels[from + 2]! << 16) | (pixels[from + 1]! << 8) | pixels[from]!;
  }
}
