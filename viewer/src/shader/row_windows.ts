// Rows of a long list, asked for in windows when they come into view. One request at a time, and a bounded memory.

const WINDOW = 250;
const MOST_WINDOWS = 24;

export type AskRows<T> = (first: number, count: number, signal: AbortSignal) => Promise<T[]>;

export class RowWindows<T> {
  private readonly kept = new Map<number, T[]>();
  private wanted: number | null = null;
  private asking: AbortController | null = null;
  private stopped = false;
  error: unknown = null;

  constructor(
    private readonly ask: AskRows<T>,
    private readonly changed: () => void,
  ) {}

  /** A row, or undefined while it is awaited. */
  row(index: number): T | undefined {
    const number = Math.floor(index / WINDOW);
    const rows = this.kept.get(number);
    if (rows) {
      // What was used last is kept longest.
      this.kept.delete(number);
      this.kept.set(number, rows);
      return rows[index - number * WINDOW];
    }
    this.want(number);
    return undefined;
  }

  /** Give up: late answers change nothing. */
  stop(): void {
    this.stopped = true;
    this.asking?.abort();
  }

  private want(number: number): void {
    this.wanted = number;
    if (!this.asking && !this.stopped && this.error === null) void this.pump();
  }

  private async pump(): Promise<void> {
    while (this.wanted !== null && !this.stopped) {
      const number = this.wanted;
      this.wanted = null;
      if (this.kept.has(number)) continue;
      this.asking = new AbortController();
      try {
        this.kept.set(number, await this.ask(number * WINDOW, WINDOW, this.asking.signal));
        const [oldest] = this.kept.keys();
        if (this.kept.size > MOST_WINDOWS && oldest !== undefined) this.kept.delete(oldest);
      } catch (error) {
        this.error = error;
        this.wanted = null;
      }
      // Rows that this answer does not have are wanted again when the list is drawn.
      if (!this.stopped) this.changed();
    }
    this.asking = null;
  }
}
