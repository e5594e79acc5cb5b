import { expect, test } from "vitest";
import { MOST_LAID, MOST_ROWS, VirtualRows, spanOf, spanThere, type RowOptions } from "../src/shared/virtual_rows";

/** A box without a document, which the test scrolls. */
function box(count: number, height: number) {
  let scroll = (_offset: number): void => {};
  let changes = 0;
  const element = {} as HTMLElement;
  const options: RowOptions = {
    observeElementRect: (_, tell) => tell({ width: 300, height }),
    observeElementOffset: (_, tell) => {
      scroll = (offset) => tell(offset, true);
      tell(0, false);
    },
    scrollToFn: (offset) => scroll(offset),
  };
  const rows = new VirtualRows(20, () => element, () => (changes += 1), options);
  rows.mount();
  rows.setCount(count);
  return { rows, scrollTo: (offset: number) => scroll(offset), changes: () => changes };
}

test("the rows that can be seen are there, and a few around them", () => {
  const { rows, scrollTo } = box(100_000, 600);
  expect(rows.span).toEqual({ start: 0, end: 36 });
  scrollTo(1_000_000);
  expect(rows.seen).toEqual({ start: 50_000, end: 50_030 });
  // More where it is scrolled to than where it comes from.
  expect(rows.span).toEqual({ start: 50_000 - 4, end: 50_030 + 6 });
  scrollTo(1_000_000 - 20);
  expect(rows.span).toEqual({ start: 49_999 - 6, end: 50_029 + 4 });
  scrollTo(100_000 * 20 - 600);
  expect(rows.span.end).toBe(100_000);
});

test("no box makes more rows than the most", () => {
  const { rows } = box(100_000, 100_000);
  expect(rows.span.end - rows.span.start).toBe(MOST_ROWS);
  expect(spanOf(0, 99_999, 100_000, true)).toEqual({ start: 0, end: MOST_ROWS });
});

test("a list that becomes short shows what is left", () => {
  const { rows, scrollTo } = box(1000, 600);
  scrollTo(10_000);
  rows.setCount(3);
  expect(rows.span).toEqual({ start: 0, end: 3 });
  rows.setCount(0);
  expect(rows.span).toEqual({ start: 0, end: 0 });
  expect(rows.height).toBe(0);
});

test("a scroll step has a few rows, however long the list is", () => {
  const { rows, scrollTo, changes } = box(100_000, 800);
  const steps = 2000;
  for (let step = 0; step < steps; step += 1) scrollTo(((step * 7919) % 99_000) * 20);
  expect(changes()).toBeGreaterThan(steps / 2);
  expect(rows.span.end - rows.span.start).toBeLessThanOrEqual(MOST_ROWS);
});

const LONG = 33_000_000;

/** The first row that can be seen, of a box of 600 pixels. */
function firstSeen(rows: VirtualRows, offset: number): number {
  return rows.span.start + Math.ceil((offset - rows.topOf(rows.span.start)) / 20);
}

test("a list that is longer than an element can be high is scrolled to both of its ends", () => {
  const { rows, scrollTo } = box(LONG, 600);
  const most = rows.height - 600;
  expect(rows.height).toBe(MOST_LAID * 20);
  expect(rows.count).toBe(LONG);
  scrollTo(most);
  expect(rows.span.end).toBe(LONG);
  expect(rows.topOf(rows.span.start) + (rows.span.end - rows.span.start) * 20).toBe(rows.height);
  scrollTo(most / 2);
  expect(Math.abs(rows.span.start - LONG / 2)).toBeLessThan(50);
  scrollTo(0);
  expect(rows.span.start).toBe(0);
  expect(rows.topOf(rows.span.start)).toBe(0);
});

test("a small step goes on row by row, also in a long list", () => {
  const { rows, scrollTo } = box(LONG, 600);
  const half = 4_000_000;
  scrollTo(half);
  const first = firstSeen(rows, half);
  for (let step = 1; step <= 50; step += 1) {
    scrollTo(half + step * 100);
    expect(firstSeen(rows, half + step * 100)).toBe(first + step * 5);
  }
});

test("any row of a long list is shown, and steps lead from it to the ends", () => {
  let offset = 0;
  const { rows, scrollTo } = box(LONG, 600);
  const seen = (row: number): boolean => row >= rows.span.start && row < rows.span.end;
  for (const row of [LONG - 1, 0, 12_345_678, 12_345_690, 40, LONG - 40, 1_000_000]) {
    rows.show(row, "center");
    expect(seen(row)).toBe(true);
  }
  // With the wheel from row 60 to the top: the box reaches its end before the list does.
  rows.show(60, "start");
  const element = rows as unknown as { offset: number };
  let steps = 0;
  while (rows.span.start > 0 && steps < 1000) {
    offset = Math.max(0, element.offset - 40);
    scrollTo(offset);
    steps += 1;
  }
  expect(rows.span.start).toBe(0);
  expect(steps).toBeLessThan(60);
});

test("of a span that part is shown whose rows are there, if any of them can be seen", () => {
  const span = { start: 10, end: 30 };
  const seen = { start: 15, end: 25 };
  const there = (from: number, to: number) =>
    spanThere(span, seen, { version: 0, has: (index) => index >= from && index < to, need: () => {} });
  expect(there(0, 100)).toBe(span);
  expect(there(0, 20)).toEqual({ start: 10, end: 20 });
  expect(there(24, 100)).toEqual({ start: 24, end: 30 });
  expect([there(50, 60), there(0, 15), there(25, 100)]).toEqual([null, null, null]);
  const none = { start: 0, end: 0 };
  expect(spanThere(none, none, { version: 0, has: () => false, need: () => {} })).toBe(none);
});
