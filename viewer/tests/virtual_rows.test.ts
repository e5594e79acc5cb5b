import { expect, test } from "vitest";
import { MOST_ROWS, VirtualRows, spanOf, type RowOptions } from "../src/shared/virtual_rows";

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
  expect(rows.span).toEqual({ start: 0, end: 38 });
  scrollTo(1_000_000);
  expect(rows.span.start).toBe(50_000 - 8);
  expect(rows.span.end).toBeGreaterThanOrEqual(50_030 + 8);
  expect(rows.span.end - rows.span.start).toBeLessThan(60);
  scrollTo(100_000 * 20 - 600);
  expect(rows.span.end).toBe(100_000);
});

test("no box makes more rows than the most", () => {
  const { rows } = box(100_000, 100_000);
  expect(rows.span.end - rows.span.start).toBe(MOST_ROWS);
  expect(spanOf(0, 99_999, 100_000)).toEqual({ start: 0, end: MOST_ROWS });
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
