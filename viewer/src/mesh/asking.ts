// One question for the mesh of a draw, whoever shows it: the panel in space, and the wireframe over a picture.

import type { EventsStore } from "../events/events_store";
import type { Asker } from "../shared/asker";
import { readMesh, type MeshData } from "./api";

interface Asked {
  at: string;
  answer: Promise<MeshData>;
  controller: AbortController;
  /** How many wait for the answer. */
  waiting: number;
}

export class Meshes {
  /** The last one; its answer is kept, as long as the capture is the same. */
  private last: Asked | null = null;

  constructor(
    private readonly asker: Asker,
    store: EventsStore,
  ) {
    store.addEventListener("reopen", () => (this.last = null));
  }

  /** The mesh of a draw. The request ends when nobody waits for it any more. Who gets it changes nothing in it. */
  ask(at: string, signal: AbortSignal): Promise<MeshData> {
    signal.throwIfAborted();
    if (this.last?.at !== at) {
      const controller = new AbortController();
      const answer = this.asker.bytes("/api/mesh", "mesh", { at }, controller.signal).then(readMesh);
      this.last = { at, answer, controller, waiting: 0 };
    }
    const asked = this.last;
    asked.waiting += 1;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        asked.waiting -= 1;
        if (!asked.waiting) {
          this.forget(asked);
          asked.controller.abort();
        }
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", leave, { once: true });
      asked.answer
        .then(resolve, (error: Error) => {
          this.forget(asked);
          reject(error);
        })
        .finally(() => signal.removeEventListener("abort", leave));
    });
  }

  private forget(asked: Asked): void {
    if (this.last === asked) this.last = null;
  }
}
