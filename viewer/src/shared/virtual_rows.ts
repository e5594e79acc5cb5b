// Rows of one height in a scrolled box. The document holds those that can be seen and a few around them.

import {
  Virtualizer,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";

/** No window of a screen needs more; it also bounds the work where a box has no height limit by mistake. */
export const MOST_ROWS = 200;
const OVERSCAN = 8;

export interface Span {
  start: number;
  end: number;
}

/** The rows to put into the document, from those that can be seen: some more on both sides, at most MOST_ROWS. */
export function spanOf(first: number, last: number, count: number): Span {
  const start = Math.max(0, first - OVERSCAN);
  const end = Math.min(count, last + 1 + OVERSCAN, start + MOST_ROWS);
  return { start, end };
}

export type RowOptions = Partial<VirtualizerOptions<HTMLElement, HTMLElement>>;

export class VirtualRows {
  span: Span = { start: 0, end: 0 };
  private readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  private options: VirtualizerOptions<HTMLElement, HTMLElement>;
  private unmount: (() => void) | null = null;

  /** `options` replaces what watches the box, for tests without a document. */
  constructor(
    readonly rowHeight: number,
    box: () => HTMLElement | null,
    changed: () => void,
    options: RowOptions = {},
  ) {
    this.options = {
      count: 0,
      getScrollElement: box,
      estimateSize: () => rowHeight,
      overscan: 0,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => {
        if (this.update()) changed();
      },
      ...options,
    };
    this.virtualizer = new Virtualizer(this.options);
  }

  get count(): number {
    return this.options.count;
  }

  get height(): number {
    return this.options.count * this.rowHeight;
  }

  /** Start to watch the box. It must be in the document. */
  mount(): void {
    this.unmount?.();
    this.unmount = this.virtualizer._didMount();
    this.virtualizer._willUpdate();
    this.update();
  }

  stop(): void {
    this.unmount?.();
    this.unmount = null;
  }

  setCount(count: number): void {
    if (count !== this.options.count) {
      this.options = { ...this.options, count };
      this.virtualizer.setOptions(this.options);
    }
    this.virtualizer._willUpdate();
    this.update();
  }

  show(row: number, align: "auto" | "center" | "start" = "auto"): void {
    if (row >= 0 && row < this.count) this.virtualizer.scrollToIndex(row, { align });
  }

  /** Rows that fit into the box. */
  get page(): number {
    return Math.max(1, Math.floor((this.virtualizer.scrollRect?.height ?? 0) / this.rowHeight) - 1);
  }

  private update(): boolean {
    const range = this.virtualizer.calculateRange();
    const { start, end } = range ? spanOf(range.startIndex, range.endIndex, this.count) : { start: 0, end: 0 };
    const changed = start !== this.span.start || end !== this.span.end;
    this.span = { start, end };
    return changed;
  }
}
