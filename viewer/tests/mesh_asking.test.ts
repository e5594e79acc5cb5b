import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { packed } from "./packing";

const HEADER = {
  address: "f0/d1", title: "", topology: "", vertices: { count: 0, all: 0 }, triangles: { count: 1, all: 1 },
  emitted: null, inputs: [], fates: [], targets: [], depths: [0, 1],
};
let asked: { url: string; signal: AbortSignal; answer: (response: Response) => void }[] = [];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("fetch", (url: string, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      asked.push({ url, signal, answer: resolve });
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    }));
  vi.resetModules();
});
afterEach(() => void vi.unstubAllGlobals());

const mesh = (): Response => new Response(packed(HEADER, [["triangles", "corners", "u32", 3, [0, 1, 2]]]).slice().buffer);
const never = (): AbortSignal => new AbortController().signal;

it("asks once for all who want the mesh of a draw, and keeps the answer", async () => {
  const { meshes } = (await import("../src/page")).page;
  const both = [meshes.ask("f0/d1", never()), meshes.ask("f0/d1", never())];
  expect(asked.length).toBe(1);
  asked[0]!.answer(mesh());
  const [one, other] = await Promise.all(both);
  expect(one).toBe(other);
  expect([...one!.corners]).toEqual([0, 1, 2]);
  expect(await meshes.ask("f0/d1", never())).toBe(one);
  expect(asked.length).toBe(1);
  void meshes.ask("f0/d2", never());
  expect(asked.length).toBe(2);
});

it("gives the request up when nobody waits any more, and only then", async () => {
  const { meshes } = (await import("../src/page")).page;
  const leaving = [new AbortController(), new AbortController()];
  const both = leaving.map(({ signal }) => meshes.ask("f0/d1", signal).catch((error: Error) => error.name));
  leaving[0]!.abort();
  expect(await both[0]).toBe("AbortError");
  expect(asked[0]!.signal.aborted).toBe(false);
  leaving[1]!.abort();
  expect(await both[1]).toBe("AbortError");
  expect(asked[0]!.signal.aborted).toBe(true);
  void meshes.ask("f0/d1", never());
  expect(asked.length).toBe(2);
});

it("asks again after an error, and when another capture has the same addresses", async () => {
  const { meshes } = (await import("../src/page")).page;
  const { store } = await import("../src/events/store");
  const first = meshes.ask("f0/d1", never());
  asked[0]!.answer(new Response("{}", { status: 400 }));
  await expect(first).rejects.toThrow();
  const second = meshes.ask("f0/d1", never());
  asked[1]!.answer(mesh());
  await second;
  store.dispatchEvent(new Event("reopen"));
  void meshes.ask("f0/d1", never());
  expect(asked.length).toBe(3);
});
