import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestError, Superseded } from "../src/shared/api";
import { Latest } from "../src/shared/latest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A question that is answered by hand. */
function question<T>() {
  let resolve = (_answer: T): void => {};
  const promise = new Promise<T>((done) => (resolve = done));
  let signal: AbortSignal | undefined;
  return {
    resolve: (answer: T) => resolve(answer),
    ask: (given: AbortSignal) => ((signal = given), promise),
    aborted: () => signal!.aborted,
  };
}

test("a new question aborts the one before, and its late answer is dropped", async () => {
  const latest = new Latest(() => {});
  const used: string[] = [];
  const [first, second] = [question<string>(), question<string>()];
  const asked = [latest.ask(first.ask, (text) => used.push(text)), latest.ask(second.ask, (text) => used.push(text))];
  expect(first.aborted()).toBe(true);
  second.resolve("second");
  first.resolve("first");
  await Promise.all(asked);
  expect(used).toEqual(["second"]);
  expect(latest.state).toBe("idle");
});

test("an answer that takes long is shown as awaited, a quick one is not", async () => {
  const states: string[] = [];
  const latest = new Latest(() => states.push(latest.state));
  const slow = question<string>();
  const asked = latest.ask(slow.ask, () => {});
  await vi.advanceTimersByTimeAsync(149);
  expect(states).toEqual(["asking"]);
  await vi.advanceTimersByTimeAsync(2);
  expect(states).toEqual(["asking", "slow"]);
  slow.resolve("now");
  await asked;
  expect(latest.state).toBe("idle");
});

test("errors stay until something else is answered; being overtaken is none", async () => {
  const latest = new Latest(() => {});
  await latest.ask(() => Promise.reject(new RequestError("no draw", "f0/d9", "It has 3.")), () => {});
  expect(latest.error).toMatchObject({ message: "no draw", location: "f0/d9", hint: "It has 3." });
  await latest.ask(() => Promise.resolve(1), () => {});
  expect(latest.error).toBeNull();
  await latest.ask(() => Promise.reject(new Superseded()), () => {});
  expect(latest.error).toBeNull();
  expect(latest.state).toBe("idle");
});

test("a question that an older request of the same panel overtook is asked again", async () => {
  const latest = new Latest(() => {});
  const used: number[] = [];
  let asked = 0;
  await latest.ask(() => (++asked < 3 ? Promise.reject(new Superseded()) : Promise.resolve(asked)), (at) => used.push(at));
  expect(used).toEqual([3]);
});

test("after another question was asked the older one is not asked again", async () => {
  const latest = new Latest(() => {});
  let asked = 0;
  const first = latest.ask(
    async () => {
      asked += 1;
      await Promise.resolve();
      throw new Superseded();
    },
    () => {},
  );
  await Promise.all([first, latest.ask(() => Promise.resolve(1), () => {})]);
  expect(asked).toBe(1);
});
