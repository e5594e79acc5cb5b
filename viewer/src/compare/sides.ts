// What lies on the server's desk: the capture of the command line, and what is compared with it.

import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";
import type { Side, SidesAnswer } from "./api";

export const MAIN = "a";
export const OTHER = "b";

class Sides extends EventTarget {
  list: Side[] = [];
  readonly latest = new Latest(() => {});
  /** Grows whenever another thing may lie on a side: answers about it are old then. */
  version = 0;

  get main(): Side | null {
    return this.list.find(({ name }) => name === MAIN) ?? null;
  }

  get other(): Side | null {
    return this.list.find(({ name }) => name === OTHER) ?? null;
  }

  /** Ask what lies there. */
  read(): Promise<void> {
    return this.latest.ask(
      (signal) => askJson<SidesAnswer>("/api/sides", "sides", {}, signal),
      (answer) => this.set(answer.sides),
    );
  }

  /** What lies there, as an answer has told it. */
  set(list: Side[]): void {
    this.list = list;
    this.version += 1;
    this.dispatchEvent(new Event("change"));
  }
}

export const sides = new Sides();
