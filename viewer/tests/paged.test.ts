// Rows in blocks: what is asked for, what is kept, and that no question is asked without end.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestError, Superseded } from "../src/shared/api";
import { Latest } from "../src/shared/latest";
import { Paged, type LoadRows } from "../src/shared/paged";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Blocks of 10 rows, 2 of them in a question, 3 of them kept; `asked` has the first row and the count of each question. */
function paged(load: LoadRows<number> = numbers) {
  const asked: [number, number][] = [];
  const latest = new Latest(() => {});
  const rows = new Paged<number>(
    latest,
    (first, count, signal) => {
      asked.push([first, count]);
      return load(first, count, signal);
    },
    10,
    2,
    3,
  );
  return { rows, asked, latest };
}

async function numbers(first: number, count: number): Promise<number[]> {
  return Array.from({ length: count }, (_, at) => first + at);
}

const answered = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const longAfter = (): Promise<unknown> => vi.advanceTimersByTimeAsync(10_000);

test("rows are asked for in blocks, and each block once", async () => {
  const { rows, asked } = paged();
  rows.need(5, 15);
  expect(rows.get(14)).toBeUndefined();
  await answered();
  expect(rows.get(14)).toBe(14);
  rows.need(0, 20);
  rows.need(12, 45);
  await answered();
  expect(asked).toEqual([[0, 20], [20, 20]]);
  // Three blocks are kept: the oldest is gone.
  expect([rows.get(5), rows.get(15), rows.get(35)]).toEqual([undefined, 15, 35]);
  rows.clear();
  expect(rows.get(15)).toBeUndefined();
});

test("blocks that were used last are kept longest", async () => {
  const { rows, asked } = paged();
  for (const start of [0, 10, 20]) {
    rows.need(start, start + 10);
    await answered();
  }
  rows.need(0, 10);
  rows.need(30, 40);
  await answered();
  expect([rows.get(0), rows.get(10), rows.get(20), rows.get(30)]).toEqual([0, undefined, 20, 30]);
  rows.need(10, 20);
  await answered();
  expect(asked.map(([first]) => first)).toEqual([0, 10, 20, 30, 10]);
});

test("a question takes the place of the one that is open, which is asked anew when it is needed again", async () => {
  const { rows, asked } = paged();
  rows.need(0, 10);
  rows.need(90_000, 90_010);
  await answered();
  expect([rows.get(0), rows.get(90_000)]).toEqual([undefined, 90_000]);
  await longAfter();
  expect(asked).toEqual([[0, 10], [90_000, 10]]);
  rows.need(0, 10);
  await answered();
  expect(rows.get(0)).toBe(0);
});

test("rows are not asked for again after an error, until all is cleared", async () => {
  const { rows, asked } = paged(() => Promise.reject(new RequestError("no")));
  rows.need(0, 10);
  await longAfter();
  rows.need(0, 10);
  rows.need(50, 60);
  await longAfter();
  expect(asked).toHaveLength(1);
  expect(rows.error?.message).toBe("no");
  rows.clear();
  expect(rows.error).toBeNull();
  rows.need(0, 10);
  await longAfter();
  expect(asked).toHaveLength(2);
});

test("what is cleared while a question is open asks no more", async () => {
  const { rows, asked } = paged((_first, _count, signal) => {
    return new Promise((_, refuse) => signal.addEventListener("abort", () => refuse(signal.reason)));
  });
  rows.need(0, 10);
  rows.clear();
  await longAfter();
  expect(asked).toHaveLength(1);
});

test("a question that the server does not answer is asked again, but after a moment", async () => {
  let refused = 0;
  const { rows, asked } = paged(async (first, count) => {
    refused += 1;
    if (refused <= 5) throw new Superseded();
    return numbers(first, count);
  });
  rows.need(0, 10);
  await answered();
  // As often as `Latest` tries at once.
  expect(asked).toHaveLength(4);
  await longAfter();
  expect(asked).toHaveLength(6);
  expect(rows.get(0)).toBe(0);
});

test("a question that waits to be asked again is given up with all others", async () => {
  const { rows, asked } = paged(() => Promise.reject(new Superseded()));
  rows.need(0, 10);
  await answered();
  rows.clear();
  await longAfter();
  expect(asked).toHaveLength(4);
});

test("rows ahead are read as a window moves, but not where it jumps", async () => {
  const { rows, asked } = paged();
  rows.total = 1000;
  rows.need(500, 510);
  await answered();
  expect(asked).toEqual([[500, 10]]);
  rows.need(500, 510);
  rows.need(501, 509);
  await answered();
  expect(asked).toEqual([[500, 10], [510, 20]]);
  // What is needed is there already.
  rows.need(512, 520);
  expect(rows.get(519)).toBe(519);
  await answered();
  rows.need(0, 10);
  await answered();
  expect(asked.at(-1)).toEqual([0, 10]);
  expect(asked).toHaveLength(4);
});

test("rows that are read ahead are not asked for again when they are needed, and are given up when others are", async () => {
  const answers: (() => void)[] = [];
  const aborted: number[] = [];
  const { rows, asked, latest } = paged((first, count, signal) => {
    signal.addEventListener("abort", () => aborted.push(first));
    return new Promise((answer) => answers.push(() => answer(numbers(first, count))));
  });
  rows.total = 1000;
  rows.need(100, 110);
  answers[0]!();
  await answered();
  rows.need(101, 109);
  rows.need(112, 118);
  expect(asked).toEqual([[100, 10], [110, 20]]);
  expect([rows.has(112), latest.state]).toEqual([false, "asking"]);
  answers[1]!();
  await answered();
  expect([rows.get(112), latest.state]).toEqual([112, "idle"]);
  rows.need(113, 119);
  expect(asked.at(-1)).toEqual([130, 20]);
  rows.need(700, 710);
  expect([asked.at(-1), aborted]).toEqual([[700, 10], [130]]);
});

test("rows ahead that do not come are no error", async () => {
  const { rows, asked } = paged((first, count) => (first < 110 ? numbers(first, count) : Promise.reject(new RequestError("no"))));
  rows.total = 1000;
  rows.need(100, 110);
  await answered();
  rows.need(101, 109);
  await longAfter();
  expect([asked.at(-1), rows.error]).toEqual([[110, 20], null]);
  rows.need(110, 120);
  await longAfter();
  expect(rows.error?.message).toBe("no");
});
