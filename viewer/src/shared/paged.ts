// Rows that come from the server in blocks, as they are scrolled into view.

import type { Latest } from "./latest";

export type LoadRows<Row> = (first: number, count: number, signal: AbortSignal) => Promise<Row[]>;

export class Paged<Row> {
  private blocks = new Map<number, Row[]>();
  private asked = "";
  /** Grows with each question: what becomes of an older one no longer matters. */
  private turn = 0;

  /** block: rows of a block. most: blocks of one question. kept: blocks that are kept. */
  constructor(
    private readonly latest: Latest,
    private readonly load: LoadRows<Row>,
    readonly block: number,
    private readonly most: number,
    private readonly kept = 64,
  ) {}

  clear(): void {
    this.blocks.clear();
    this.asked = "";
    this.turn += 1;
    this.latest.stop();
  }

  get(index: number): Row | undefined {
    return this.blocks.get(Math.floor(index / this.block))?.[index % this.block];
  }

  /** Ask for rows from `start` up to `end`, without it, that are not there. The newest question is the one that counts. */
  need(start: number, end: number): void {
    if (end <= start) return;
    let first = Math.floor(start / this.block);
    let last = Math.floor((end - 1) / this.block);
    while (first <= last && this.blocks.has(first)) first += 1;
    while (last >= first && this.blocks.has(last)) last -= 1;
    if (last < first) return;
    last = Math.min(last, first + this.most - 1);
    const key = `${first},${last}`;
    if (key === this.asked) return;
    this.asked = key;
    this.turn += 1;
    const { turn } = this;
    const at = first * this.block;
    const count = (last - first + 1) * this.block;
    void this.latest.ask(
      (signal) => this.load(at, count, signal),
      (rows) => {
        for (let block = first; block <= last; block += 1) {
          // The newest blocks are the last ones of the map.
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
      // The server answered another question of the panel in place of this one: ask again.
      if (this.turn !== turn || this.asked !== key || this.latest.error) return;
      this.asked = "";
      this.need(start, end);
    });
  }
}
