// Addresses as the page needs them: which frame, event and pixel a text names. The server says what is wrong with
// a text that is no address; the page only has to know that it is none.

export const SCREENS = ["top", "top-right", "bottom", "screen"] as const;

export interface Address {
  frame: number;
  draw?: number;
  event?: number;
  pass?: number;
  screen?: string;
  pixel?: [number, number];
  memory?: { address: number; size: number };
  /** Parts that the page passes on without looking at them: vertices, primitives, blocks, threads, steps. */
  rest?: string[];
}

const PART = /^(px|tc|te|gs|[fdepvtbs])(\d{1,9}(?:,\d{1,9}){0,2})$/;

const MEMORY = /^mem0x([0-9a-f]{1,10})(?:\+0x([0-9a-f]{1,8}))?$/i;

/** The address, or null where the text is none. */
export function parseAddress(text: string): Address | null {
  const parts = text.trim().split("/");
  const first = /^f(\d{1,9})$/.exec(parts[0] ?? "");
  if (!first) return null;
  const address: Address = { frame: Number(first[1]) };
  let things = 0;
  for (const part of parts.slice(1)) {
    if ((SCREENS as readonly string[]).includes(part)) {
      address.screen = part;
      things += 1;
      continue;
    }
    const memory = MEMORY.exec(part);
    if (memory) {
      if (address.memory) return null;
      address.memory = { address: parseInt(memory[1]!, 16), size: parseInt(memory[2] ?? "1", 16) };
      continue;
    }
    const match = PART.exec(part);
    if (!match) return null;
    const numbers = match[2]!.split(",").map(Number);
    switch (match[1]) {
      case "f":
        return null;
      case "d":
      case "e":
      case "p":
        if (numbers.length !== 1) return null;
        if (match[1] === "d") address.draw = numbers[0];
        else if (match[1] === "e") address.event = numbers[0];
        else address.pass = numbers[0];
        things += 1;
        break;
      case "px":
        if (numbers.length !== 2 || address.pixel) return null;
        address.pixel = [numbers[0]!, numbers[1]!];
        break;
      default:
        (address.rest ??= []).push(part);
    }
  }
  return things > 1 ? null : address;
}

/** The frame, draw, event or pass that the address is in, without what is inside it. */
export function placeOf(address: Address): string {
  const { frame, draw, event, pass } = address;
  if (draw !== undefined) return `f${frame}/d${draw}`;
  if (event !== undefined) return `f${frame}/e${event}`;
  if (pass !== undefined) return `f${frame}/p${pass}`;
  return `f${frame}`;
}

/** An address without its step, and the step: steps are places within a run of a program, which most panels ignore. */
export function splitStep(text: string): { run: string; step: number | null } {
  const match = /^(.*)\/s(\d{1,9})$/.exec(text);
  return match ? { run: match[1]!, step: Number(match[2]) } : { run: text, step: null };
}

/** The address of bytes after an event or a frame. */
export function memoryAt(place: string, address: number, size = 1): string {
  return `${place}/mem0x${address.toString(16)}${size > 1 ? `+0x${size.toString(16)}` : ""}`;
}

/** The address without the memory that it names. */
export function withoutMemory(text: string): string {
  return text.replace(/\/mem0x[0-9a-f]+(?:\+0x[0-9a-f]+)?(?=\/|$)/i, "");
}

/** The place of a text; a text that is no address stays as it is, so that the server can say what is wrong with it. */
export function placeOfText(text: string): string {
  const address = parseAddress(text);
  return address ? placeOf(address) : text;
}

const LINK =
  /(?<![\w/#.])f\d{1,9}(?:\/(?:top-right|top|bottom|screen|px\d{1,9},\d{1,9}|b\d{1,9},\d{1,9},\d{1,9}|t\d{1,9}(?:,\d{1,9},\d{1,9})?|mem0x[0-9a-f]{1,10}(?:\+0x[0-9a-f]{1,8})?|(?:tc|te|gs|[depvs])\d{1,9}))*(?![\w/])/g;

export interface Piece {
  text: string;
  address?: string;
}

/** Splits a text into plain pieces and addresses. */
export function findAddresses(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], address: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** The fragment of a link to an address. Commas and slashes stay readable. */
export function toFragment(address: string): string {
  return "#" + encodeURIComponent(address).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%2B", "+");
}

/** The address in a location's fragment. */
export function fromFragment(fragment: string): string {
  const text = fragment.replace(/^#/, "");
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone per cent sign: show the text, the server will refuse it.
    return text;
  }
}
