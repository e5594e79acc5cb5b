// One question for the mesh of a draw, whoever shows it: the panel in space, and the wireframe over a picture.

import { store } from "../events/store";
import { askBytes } from "../shared/api";
import { readMesh, type MeshData } from "./api";

interface Asked {
  at: string;
  answer: Promise<MeshData>;
  controller: AbortController;
  /** How many wait for the answer. */
  waiting: number;
}

/** The last one; its answer is kept, as long as the capture is the same. */
let last: Asked | null = null;

store.addEventListener("reopen", () => (last = null));

function forget(asked: Asked): void {
  if (last === asked) last = null;
}

/** The mesh of a draw. The request ends when nobody waits for it any more. Who gets it changes nothing in it. */
export function askMesh(at: string, signal: AbortSignal): Promise<MeshData> {
  signal.throwIfAborted();
  if (last?.at !== at) {
    const controller = new AbortController();
    const answer = askBytes("/api/mesh", "mesh", { at }, controller.signal).then(readMesh);
    last = { at, answer, controller, waiting: 0 };
  }
  const asked = last;
  asked.waiting += 1;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      asked.waiting -= 1;
      if (!asked.waiting) {
        forget(asked);
        asked.controller.abort();
      }
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", leave, { once: true });
    asked.answer
      .then(resolve, (error: Error) => {
        forget(asked);
        reject(error);
      })
      .finally(() => signal.removeEventListener("abort", leave));
  });
}
