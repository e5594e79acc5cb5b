import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EventsStore } from "../src/events/events_store";
import { Kernel } from "../src/notebook/kernel";
import type { Model } from "../src/notebook/model";
import { ModelSelection } from "../src/notebook/model_selection";
import { isDark } from "../src/notebook/theme";
import { Asker, RequestError, Superseded } from "../src/shared/asker";
import { Latest } from "../src/shared/latest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Message {
  kind: string;
  id: number;
  path?: string;
  query?: Record<string, string>;
  view?: string;
}

/** A model as anywidget gives it, and a kernel that is played by hand. */
class FakeModel implements Model {
  sent: Message[] = [];
  saved = 0;
  broken = false;
  private readonly calls = new Map<string, Set<(...values: never[]) => void>>();

  constructor(private readonly state: Record<string, unknown> = {}) {}

  get(name: string): unknown {
    return this.state[name];
  }
  set(name: string, value: unknown): void {
    this.state[name] = value;
    this.tell(`change:${name}`);
  }
  save_changes(): void {
    this.saved += 1;
  }
  send(content: unknown): void {
    if (this.broken) throw new Error("the comm is gone");
    this.sent.push(content as Message);
  }
  on(name: string, call: (...values: never[]) => void): void {
    this.calls.set(name, (this.calls.get(name) ?? new Set()).add(call));
  }
  off(name: string, call: (...values: never[]) => void): void {
    this.calls.get(name)?.delete(call);
  }
  get listeners(): number {
    return [...this.calls.values()].reduce((sum, some) => sum + some.size, 0);
  }
  tell(name: string, ...values: unknown[]): void {
    for (const call of [...(this.calls.get(name) ?? [])]) call(...(values as never[]));
  }
  of(kind: string): Message[] {
    return this.sent.filter((one) => one.kind === kind);
  }
  answer(id: number, value: unknown, status = 200, headers = {}): void {
    const bytes = new TextEncoder().encode(`....${JSON.stringify(value)}`);
    // Jupyter gives views that begin somewhere in a message.
    const view = new DataView(bytes.buffer, 4);
    this.tell("msg:custom", { kind: "reply", id, status, type: "application/json", headers }, [view]);
  }
}

function made(): { model: FakeModel; kernel: Kernel; asker: Asker } {
  const model = new FakeModel();
  const kernel = new Kernel(model, "view");
  return { model, kernel, asker: new Asker(kernel.carry) };
}

test("a request becomes a message with the query of the server, and the reply an answer", async () => {
  const { model, asker } = made();
  const answer = asker.json<{ a: number }>("/api/why", "why", { at: "f0/d3", x: 7 });
  const [asked] = model.of("ask");
  expect(asked!.path).toBe("why");
  expect(asked!.query).toEqual({ at: "f0/d3", x: "7", tab: asker.tab, panel: "why", turn: "1" });
  model.answer(asked!.id, { a: 1 });
  expect(await answer).toEqual({ a: 1 });
});

test("bytes come as they are, and answers in another order find their requests", async () => {
  const { model, asker } = made();
  const [one, other] = [asker.bytes("/api/look", "picture", {}), asker.bytes("/api/look", "before", {})];
  const [first, second] = model.of("ask");
  expect(first!.id).not.toBe(second!.id);
  model.tell("msg:custom", { kind: "reply", id: second!.id, status: 200, type: "application/octet-stream" }, [new Uint8Array([9, 8]).buffer]);
  model.tell("msg:custom", { kind: "reply", id: first!.id, status: 200, type: "application/octet-stream" }, []);
  expect([...(await other)]).toEqual([9, 8]);
  expect((await one).length).toBe(0);
});

test("errors are those of the server", async () => {
  const { model, asker } = made();
  const ask = async (status: number, value: unknown): Promise<Error> => {
    const answer = asker.json("/api/why", "why").catch((error: Error) => error);
    model.answer(model.of("ask").at(-1)!.id, value, status);
    return (await answer) as Error;
  };
  const error = { message: "there is no draw", location: "f0/d99", hint: null };
  expect(await ask(400, { error })).toMatchObject(error);
  expect(await ask(409, { error })).toBeInstanceOf(Superseded);
  expect((await ask(77, {})).message).toContain("status 77");
  expect((await ask(503, "no object")).message).toContain("503");
});

test("a request that is given up is dropped on both sides", async () => {
  const { model, asker } = made();
  const controller = new AbortController();
  const answer = asker.json("/api/why", "why", {}, controller.signal).catch((error: Error) => error);
  const [asked] = model.of("ask");
  controller.abort();
  expect(((await answer) as Error).name).toBe("AbortError");
  expect(model.of("drop").map(({ id }) => id)).toEqual([asked!.id]);
  model.answer(asked!.id, {});
  await expect(asker.json("/api/why", "why", {}, controller.signal)).rejects.toThrow();
  expect(model.of("ask").length).toBe(1);
});

test("a panel takes the newest answer only, as with the server", async () => {
  const { model, asker } = made();
  const latest = new Latest(() => {});
  const used: unknown[] = [];
  for (const at of ["f0", "f1"]) {
    void latest.ask((signal) => asker.json("/api/why", "why", { at }, signal), (found) => used.push(found));
  }
  const [first, second] = model.of("ask");
  expect(model.of("drop").map(({ id }) => id)).toEqual([first!.id]);
  model.answer(second!.id, "second");
  model.answer(first!.id, "first");
  await vi.runAllTimersAsync();
  expect(used).toEqual(["second"]);
});

test("a kernel that restarts fails what waits, and what comes, until somebody answers", async () => {
  const { model, kernel, asker } = made();
  model.tell("msg:custom", { kind: "here" }, []);
  expect([kernel.lost, kernel.heard]).toEqual([false, true]);
  const waits = asker.json("/api/why", "why").catch((error: Error) => error);
  model.tell("comm_live_update");
  expect(await waits).toBeInstanceOf(RequestError);
  expect(kernel.lost).toBe(true);
  const later = (await asker.json("/api/why", "why").catch((error: Error) => error)) as RequestError;
  expect(later.hint).toBe("Run the cell again.");
  expect(model.of("ask").length).toBe(1);
  // The widget asks who is there; a kernel that has only been away says so.
  expect(model.of("shown").length).toBe(2);
  model.tell("msg:custom", { kind: "here" }, []);
  expect(kernel.lost).toBe(false);
  void asker.json("/api/why", "why").catch(() => {});
  expect(model.of("ask").length).toBe(2);
  model.broken = true;
  const broken = asker.json("/api/why", "why").catch((error: Error) => error);
  expect(await broken).toBeInstanceOf(RequestError);
  expect(kernel.lost).toBe(true);
});

test("a widget that hears nothing for some time says that it waits", async () => {
  const { model, kernel, asker } = made();
  const states: boolean[] = [];
  kernel.addEventListener("change", () => states.push(kernel.late));
  await vi.advanceTimersByTimeAsync(5000);
  expect([kernel.late, kernel.heard]).toEqual([true, false]);
  model.tell("msg:custom", { kind: "here" }, []);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(kernel.late).toBe(false);
  void asker.json("/api/why", "why");
  await vi.advanceTimersByTimeAsync(1000);
  expect(kernel.late).toBe(false);
  await vi.advanceTimersByTimeAsync(5000);
  expect(kernel.late).toBe(true);
  model.answer(model.of("ask")[0]!.id, {});
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states).toEqual([true, false, true, false]);
});

test("at its end a widget says so, and listens to nothing any more", async () => {
  const { model, kernel, asker } = made();
  const waits = asker.json("/api/why", "why").catch((error: Error) => error);
  kernel.end();
  expect(await waits).toBeInstanceOf(RequestError);
  expect(model.of("gone").map(({ view }) => view)).toEqual(["view"]);
  expect(model.listeners).toBe(0);
});

test("messages that are no replies change nothing", async () => {
  const { model, kernel } = made();
  for (const message of [null, 7, "reply", {}, { kind: "reply" }, { kind: "reply", id: "7" }, { kind: "reply", id: 999, status: 200 }]) {
    model.tell("msg:custom", message, undefined);
  }
  expect(kernel.lost).toBe(false);
});

test("two places that show a widget have numbers of their own", () => {
  const model = new FakeModel();
  const askers = [0, 1].map((number) => new Asker(new Kernel(model, String(number)).carry));
  for (const asker of askers) void asker.json("/api/why", "why").catch(() => {});
  const ids = model.of("ask").map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(ids.every((id) => Number.isSafeInteger(id) && id >= 0)).toBe(true);
  expect(askers[0]!.tab).not.toBe(askers[1]!.tab);
});

test("the address of the model is the selection, in both directions", () => {
  const model = new FakeModel({ address: "f0" });
  const selection = new ModelSelection(model);
  const seen: string[] = [];
  selection.addEventListener("change", () => seen.push(selection.address));
  model.set("address", "f0/d3");
  expect([selection.address, model.saved]).toEqual(["f0/d3", 0]);
  selection.select("f0/top/px1,2", { of: "top", x: 1, y: 2 });
  expect([model.get("address"), model.saved]).toEqual(["f0/top/px1,2", 1]);
  expect(selection.clicked).toEqual({ address: "f0/top/px1,2", of: "top", x: 1, y: 2 });
  selection.select("f0/top/px1,2");
  expect(seen).toEqual(["f0/d3", "f0/top/px1,2"]);
  selection.lead("f0/d4", { word: { line: 3, register: "X" } });
  expect(selection.detail?.word?.line).toBe(3);
  expect(selection.clicked).toBeNull();
  selection.refine("f0/d4/v1/s2");
  expect([selection.run, model.get("address")]).toEqual(["f0/d4/v1", "f0/d4/v1/s2"]);
  // Another place that shows the widget, or Python.
  selection.select("f0/d4", { of: "target", x: 5, y: 6 });
  model.set("address", "f1");
  expect([selection.address, selection.clicked]).toEqual(["f1", null]);
  selection.end();
  model.set("address", "f2");
  expect(selection.address).toBe("f1");
  expect(model.listeners).toBe(0);
});

test("two selections of one model follow each other", () => {
  const model = new FakeModel({ address: "f0" });
  const [one, other] = [new ModelSelection(model), new ModelSelection(model)];
  one.select("f0/d1");
  expect(other.address).toBe("f0/d1");
  other.select("f0/d2");
  expect(one.address).toBe("f0/d2");
});

test("the events are read by messages, too", async () => {
  const { model, asker } = made();
  const store = new EventsStore(asker);
  const need = store.needFor("f0/d0");
  model.answer(model.of("ask")[0]!.id, { name: "x", console: "3DS", frames: 1, rest: false, version: "1" });
  await vi.advanceTimersByTimeAsync(10);
  expect(model.of("ask")[1]!.path).toBe("events");
  model.answer(model.of("ask")[1]!.id, {
    frame: 0, passes: [], columns: ["event", "draw", "pass", "kind", "title"], rows: [[0, 0, null, "draw", "draw 0"]],
  });
  await need;
  expect(await store.isDraw("f0/d0")).toBe(true);
});

test("the notebook says whether it is dark, and else the system", () => {
  const dark = (dataset: Record<string, string>, asked: boolean): boolean => isDark({ dataset }, asked);
  expect(dark({ jpThemeLight: "true" }, true)).toBe(false);
  expect(dark({ jpThemeLight: "false" }, false)).toBe(true);
  expect(dark({ vscodeThemeKind: "vscode-dark" }, false)).toBe(true);
  expect(dark({ vscodeThemeKind: "vscode-high-contrast" }, false)).toBe(true);
  expect(dark({ vscodeThemeKind: "vscode-high-contrast-light" }, true)).toBe(false);
  expect([dark({}, true), dark({}, false)]).toEqual([true, false]);
});
