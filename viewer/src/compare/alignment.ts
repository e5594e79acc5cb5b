// The aligned events of a frame: which event of B goes with which of A.

import { parseAddress, type Address } from "../shared/address";
import type { AlignedAnswer, AlignedRow, Verdict } from "./api";

export interface Aligned {
  /** Addresses; null where a side has no such event. */
  a: string | null;
  b: string | null;
  verdict: Verdict;
  kind: string;
  title: string;
  /** The title in B, where it is another. */
  other: string | null;
}

export class Alignment {
  readonly rows: Aligned[];
  /** Rows that differ. */
  readonly differing: number[];
  private readonly byEvent = new Map<number, number>();
  private readonly byDraw = new Map<number, number>();

  constructor(private readonly answer: AlignedAnswer) {
    this.rows = answer.rows.map((row) => rowOf(answer.frame, row));
    this.differing = this.rows.flatMap((row, index) => (row.verdict === "equal" ? [] : [index]));
    answer.rows.forEach(([event, draw], index) => {
      if (event !== null) this.byEvent.set(event, index);
      if (draw !== null) this.byDraw.set(draw, index);
    });
  }

  get frame(): number {
    return this.answer.frame;
  }

  /** The row of an address of A; -1 where there is none. */
  rowOf(address: string): number {
    const parsed = parseAddress(address);
    if (!parsed || parsed.frame !== this.frame) return -1;
    if (parsed.draw !== undefined) return this.byDraw.get(parsed.draw) ?? -1;
    if (parsed.event !== undefined) return this.byEvent.get(parsed.event) ?? -1;
    return -1;
  }

  /** The address of B that goes with one of A; null where B has none. What is inside an event keeps its numbers. */
  counterpart(address: string): string | null {
    const parsed = parseAddress(address);
    if (!parsed || parsed.frame !== this.frame || parsed.pass !== undefined) return null;
    if (parsed.draw === undefined && parsed.event === undefined) return address;
    const place = this.rows[this.rowOf(address)]?.b;
    return place ? [place, ...insideOf(parsed)].join("/") : null;
  }

  /** The next row that differs, from a row on; -1 where there is none. */
  next(row: number, step: 1 | -1): number {
    return (step > 0 ? this.differing.find((one) => one > row) : this.differing.findLast((one) => one < row)) ?? -1;
  }

  /** The last event of A before a row: where the picture before an event that only B has is found. */
  before(row: number): string | null {
    for (let at = row - 1; at >= 0; at -= 1) if (this.rows[at]!.a) return this.rows[at]!.a;
    return null;
  }
}

function rowOf(frame: number, [a, drawA, b, drawB, verdict, kind, titleA, titleB]: AlignedRow): Aligned {
  return {
    a: addressOf(frame, a, drawA),
    b: addressOf(frame, b, drawB),
    verdict,
    kind,
    title: titleA ?? titleB ?? "",
    other: titleA !== null && titleB !== null && titleA !== titleB ? titleB : null,
  };
}

function addressOf(frame: number, event: number | null, draw: number | null): string | null {
  if (event === null) return null;
  return draw === null ? `f${frame}/e${event}` : `f${frame}/d${draw}`;
}

function insideOf({ pixel, rest }: Address): string[] {
  return [...(rest ?? []), ...(pixel ? [`px${pixel[0]},${pixel[1]}`] : [])];
}
