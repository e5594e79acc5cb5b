// Rows that come from the server in blocks, as they are scrolled into view.

import type { RequestError } from "./api";
import type { Latest } from "./latest";
import type { Awaited } from "./virtual_rows";

export type LoadRows<Row> = (first: number, count: number, signal: AbortSignal) => Promise<Row[]>;

/** A step of scrolling as long as so many windows of rows is likely to be followed by another one. */
const NEAR = 4;
/** How far is read ahead then, in windows. */
const AHEAD = 4;
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
  /** Where the rows begin that were needed last. */
  private start = 0;
  /** How many rows there are, if rows that are likely to be needed next shall be read ahead. */
  total = 0;
  /** Blocks that are read ahead. */
  private ahead: { first: number; last: number; answer: Promise<void>; controller: AbortController } | null = null;

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
    this.dropAhead();
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
    const moved = start - this.start;
    this.start = start;
    const missing = this.missing(start, end);
    if (!missing) {
      if (moved && Math.abs(moved) <= NEAR * (end - start)) this.readAhead(start, end, moved > 0);
      return;
    }
    const [first, last] = missing;
    const key = `${first},${last}`;
    if (key === this.asked) return;
    this.asked = key;
    this.turn += 1;
    const { turn, ahead } = this;
    clearTimeout(this.retry);
    const coming = ahead && ahead.first <= first && ahead.last >= last ? ahead : null;
    if (!coming) this.dropAhead();
    void this.latest.ask<void>(
      (signal) => (coming ? coming.answer : this.ask(first, last, signal)),
      () => {
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

  /** The first and the last block, at most as many as one question may have, with rows of a window that are not there. */
  private missing(start: number, end: number): [number, number] | null {
    let first = Math.floor(start / this.block);
    let last = Math.floor((end - 1) / this.block);
    this.touch(first, last);
    while (first <= last && this.blocks.has(first)) first += 1;
    while (last >= first && this.blocks.has(last)) last -= 1;
    return last < first ? null : [first, Math.min(last, first + this.most - 1)];
  }

  private async ask(first: number, last: number, signal: AbortSignal): Promise<void> {
    const { version } = this;
    const rows = await this.load(first * this.block, (last - first + 1) * this.block, signal);
    if (version !== this.version || signal.aborted) return;
    for (let block = first; block <= last; block += 1) {
      this.blocks.delete(block);
      this.blocks.set(block, rows.slice((block - first) * this.block, (block - first + 1) * this.block));
    }
    for (const block of this.blocks.keys()) {
      if (this.blocks.size <= this.kept) break;
      this.blocks.delete(block);
    }
  }

  /** Ask for rows beyond a window, as it moves. */
  private readAhead(start: number, end: number, down: boolean): void {
    const far = AHEAD * (end - start);
    const from = Math.max(0, down ? end : start - far);
    const to = Math.min(this.total, down ? end + far : start);
    const missing = from < to && !this.ahead && this.latest.state === "idle" ? this.missing(from, to) : null;
    if (!missing) return;
    const [first, last] = missing;
    const controller = new AbortController();
    const answer = this.ask(first, last, controller.signal);
    const ahead = { first, last, answer, controller };
    this.ahead = ahead;
    // If it fails, it is asked for again as soon as it is needed.
    const over = (): void => {
      if (this.ahead === ahead) this.ahead = null;
    };
    void answer.then(over, over);
  }

  private dropAhead(): void {
    this.ahead?.controller.abort();
    this.ahead = null;
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
