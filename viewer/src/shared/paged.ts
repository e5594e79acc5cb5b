// Rows that come from the server in blocks, as they are scrolled into view.

import type { RequestError } from "./api";
import type { Latest } from "./latest";
import type { Awaited } from "./virtual_rows";

export type LoadRows<Row> = (first: number, count: number, signal: AbortSignal) => Promise<Row[]>;

/** How long to wait before a question is asked again that the server did not answer. */
const RETRY_MS = 50;

export class Paged<Row> implements Awaited {
  /** Grows with `clear`. */
  version = 0;
  private blocks = new Map<number, Row[]>();
  private asked = "";
  /** Grows with each question and with `clear`: what becomes of an older question no longer matters. */
  private turn = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;

  /**
   * latest: asks the questions, and holds the error of the last one. Nothing else may be asked with it.
   * block: rows of a block. most: blocks of one question. kept: blocks that are kept.
   */
  constructor(
    private readonly latest: Latest,
    private readonly load: LoadRows<Row>,
    readonly block: number,
    private readonly most: number,
    private readonly kept = 64,
  ) {}

  /** Why there are no more rows. */
  get error(): RequestError | null {
    return this.latest.error;
  }

  /** Forget all rows, and the error. A question that is open is dropped. */
  clear(): void {
    this.blocks.clear();
    this.asked = "";
    this.version += 1;
    this.turn += 1;
    clearTimeout(this.retry);
    this.latest.stop();
  }

  /** A row, or undefined where it has not come yet. */
  get(index: number): Row | undefined {
    return this.blocks.get(Math.floor(index / this.block))?.[index % this.block];
  }

  has(index: number): boolean {
    return this.get(index) !== undefined;
  }

  /**
   * Ask for rows from `start` up to `end`, without it, that are not there. The newest question is the one that counts.
   * After an error nothing is asked until `clear`.
   */
  need(start: number, end: number): void {
    if (end <= start || this.error) return;
    let first = Math.floor(start / this.block);
    let last = Math.floor((end - 1) / this.block);
    this.touch(first, last);
    while (first <= last && this.blocks.has(first)) first += 1;
    while (last >= first && this.blocks.has(last)) last -= 1;
    if (last < first) return;
    last = Math.min(last, first + this.most - 1);
    const key = `${first},${last}`;
    if (key === this.asked) return;
    this.asked = key;
    this.turn += 1;
    const { turn } = this;
    clearTimeout(this.retry);
    const at = first * this.block;
    const count = (last - first + 1) * this.block;
    void this.latest.ask(
      (signal) => this.load(at, count, signal),
      (rows) => {
        for (let block = first; block <= last; block += 1) {
          this.blocks.delete(block);
          this.blocks.set(block, rows.slice((block - first) * this.block, (block - first + 1) * this.block));
        }
        for (const block of this.blocks.keys()) {
          if (this.blocks.size <= this.kept) break;
          this.blocks.delete(block);
        }
        this.asked = "";
      },
    ).then(() => {
      // It was answered, or it failed, or a newer question took its place.
      if (this.turn !== turn || this.asked !== key || this.error) return;
      // The server answered another question of the panel in place of this one. It is asked again after a moment,
      // never at once: that could go on without end, with no time left for anything else.
      this.retry = setTimeout(() => {
        this.asked = "";
        this.need(start, end);
      }, RETRY_MS);
    });
  }

  /** The blocks that were used last are the last ones of the map: they are kept longest. */
  private touch(first: number, last: number): void {
    for (let block = first; block <= last; block += 1) {
      const rows = this.blocks.get(block);
      if (!rows) continue;
      this.blocks.delete(block);
      this.blocks.set(block, rows);
    }
  }
}
