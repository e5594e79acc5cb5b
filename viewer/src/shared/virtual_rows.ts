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
/** Rows of the document that can't be seen: where the list is scrolled to, and where it comes from. */
const AHEAD = 6;
const BEHIND = 4;
/**
 * Browsers limit the height of an element: Firefox to 17 million pixels. A longer list is laid out as one of so many rows,
 * and `shift` says which of its rows these are: it stays while a hand scrolls, and changes when the scroll bar is dragged.
 */
export const MOST_LAID = 400_000;
/** A step of the scroll bar further than this, in heights of the box, goes to a place in proportion. */
const JUMP = 2;
/** How far a hand can scroll on both sides of where the page has scrolled to, in heights of the box. */
const ROOM = 20;

export interface Span {
  start: number;
  end: number;
}

/**
 * The rows to put into the document, from those that can be seen: some more on both sides, at most MOST_ROWS.
 * down: whether it is the later ones that are scrolled to.
 */
export function spanOf(first: number, last: number, count: number, down: boolean): Span {
  const start = Math.max(0, first - (down ? BEHIND : AHEAD));
  const end = Math.min(count, last + 1 + (down ? AHEAD : BEHIND), start + MOST_ROWS);
  return { start, end };
}

/** Rows that come from elsewhere. */
export interface Awaited {
  /** Changes when all rows become others. */
  readonly version: number;
  has(index: number): boolean;
  /** Ask for the rows from `start` up to `end`, without it, that are not there. */
  need(start: number, end: number): void;
}

/**
 * The part of a span whose rows are there: all of it, or as far as its first and last rows that are, or null if none of
 * those that can be seen is.
 */
export function spanThere(span: Span, seen: Span, rows: Awaited): Span | null {
  let { start, end } = span;
  while (start < end && !rows.has(start)) start += 1;
  while (start < end && !rows.has(end - 1)) end -= 1;
  for (let index = start; index < end; index += 1) {
    if (!rows.has(index)) continue;
    if (index >= seen.end) return null;
    if (index >= seen.start) return start === span.start && end === span.end ? span : { start, end };
  }
  return span.start < span.end ? null : span;
}

export type RowOptions = Partial<VirtualizerOptions<HTMLElement, HTMLElement>>;

export class VirtualRows {
  span: Span = { start: 0, end: 0 };
  /** The rows of the span that can be seen. */
  seen: Span = { start: 0, end: 0 };
  private down = true;
  private readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  private options: VirtualizerOptions<HTMLElement, HTMLElement>;
  private unmount: (() => void) | null = null;
  private all = 0;
  /** How many rows come before the first one that is laid out. */
  private shift = 0;
  /** Where the box was scrolled to last, in pixels. */
  private last = 0;
  /** Where the page itself scrolls to, and the shift from then on. */
  private aim: { offset: number; shift: number } | null = null;

  /** `options` replaces what watches the box, for tests without a document. */
  constructor(
    readonly rowHeight: number,
    box: () => HTMLElement | null,
    private readonly changed: () => void,
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
    return this.all;
  }

  /** Where a row is, in pixels of the box. */
  topOf(row: number): number {
    return (row - this.shift) * this.rowHeight;
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

  setCount(all: number): void {
    const count = Math.min(all, MOST_LAID);
    if (all !== this.all) {
      this.all = all;
      this.shift = Math.min(this.shift, all - count);
    }
    if (count !== this.options.count) {
      this.options = { ...this.options, count };
      this.virtualizer.setOptions(this.options);
    }
    this.virtualizer._willUpdate();
    this.update();
  }

  show(row: number, align: "auto" | "center" | "start" = "auto"): void {
    if (row < 0 || row >= this.count) return;
    if (this.all <= MOST_LAID) this.virtualizer.scrollToIndex(row, { align });
    else this.showFar(row, align);
  }

  /** Rows that fit into the box. */
  get page(): number {
    return Math.max(1, Math.floor((this.virtualizer.scrollRect?.height ?? 0) / this.rowHeight) - 1);
  }

  private get view(): number {
    return this.virtualizer.scrollRect?.height ?? 0;
  }

  private get offset(): number {
    return this.virtualizer.scrollOffset ?? 0;
  }

  /** How far the box can be scrolled, in pixels, and how far a box with all rows could. */
  private get most(): { laid: number; all: number } {
    const { view, rowHeight } = this;
    return { laid: Math.max(1, this.height - view), all: Math.max(1, this.all * rowHeight - view) };
  }

  /** Bring a row of a list that is not laid out as a whole into view. */
  private showFar(row: number, align: "auto" | "center" | "start"): void {
    const { rowHeight, view } = this;
    const now = this.shift * rowHeight + this.offset;
    const top = row * rowHeight;
    if (align === "auto" && top >= now && top + rowHeight <= now + view) return;
    const wanted = align === "center" ? top - (view - rowHeight) / 2 : align === "start" || top < now ? top : top + rowHeight - view;
    this.go(Math.min(Math.max(wanted, 0), this.most.all));
  }

  /** Go to a place, in pixels of a box with all rows. */
  private go(wanted: number): void {
    const { laid, all } = this.most;
    const near = wanted - this.shift * this.rowHeight;
    const close = Math.abs(near - this.offset) <= this.view && near > this.view && near < laid - this.view;
    const room = ROOM * this.view;
    const inProportion = Math.min(Math.max((wanted * laid) / all, room), laid - room);
    const best = wanted < room ? wanted : wanted > all - room ? laid - (all - wanted) : inProportion;
    const shift = close ? this.shift : this.shiftAt((wanted - best) / this.rowHeight);
    const offset = Math.min(Math.max(wanted - shift * this.rowHeight, 0), laid);
    if (Math.abs(offset - this.offset) < 1) {
      this.shift = shift;
      if (this.update()) this.changed();
      return;
    }
    this.aim = { offset, shift };
    this.options.scrollToFn(offset, { adjustments: 0, behavior: "auto" }, this.virtualizer);
  }

  private shiftAt(rows: number): number {
    return Math.min(Math.max(Math.round(rows), 0), this.all - this.options.count);
  }

  /** Find the shift after the box was scrolled. */
  private follow(): void {
    const { offset, view, aim } = this;
    const moved = Math.abs(offset - this.last);
    if (this.all <= MOST_LAID || moved === 0) return;
    this.last = offset;
    this.aim = null;
    const spare = this.all - this.options.count;
    const { laid } = this.most;
    if (aim && Math.abs(offset - aim.offset) < 2) this.shift = aim.shift;
    else if (moved > JUMP * view) this.shift = this.shiftAt((offset / laid) * spare);
    else if ((offset < view && this.shift > 0) || (offset > laid - view && this.shift < spare)) {
      // The box ends here, but the list does not.
      this.go(this.shift * this.rowHeight + offset);
    }
  }

  private update(): boolean {
    const before = this.shift;
    this.follow();
    const range = this.virtualizer.calculateRange();
    const { shift } = this;
    let { start, end } = { start: 0, end: 0 };
    if (range) {
      const first = range.startIndex + shift;
      if (first !== this.seen.start) this.down = first > this.seen.start;
      ({ start, end } = spanOf(first, range.endIndex + shift, shift + this.options.count, this.down));
      start = Math.max(start, shift);
    }
    const changed = start !== this.span.start || end !== this.span.end || shift !== before;
    this.seen = range ? { start: range.startIndex + shift, end: range.endIndex + shift + 1 } : { start: 0, end: 0 };
    this.span = { start, end };
    return changed;
  }
}
