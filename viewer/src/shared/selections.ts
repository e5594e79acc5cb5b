// What is selected: an address, and what is known of it besides. Where it is kept differs: see `selection.ts` for the page.

import { splitStep } from "./address";

/** The pixel of a picture that was clicked: its address counts in another way than the picture. */
export interface Clicked {
  address: string;
  of: string;
  x: number;
  y: number;
}

/** What a link leads to besides the address: a texel of a texture, or a word, by its number. */
export interface Detail {
  address: string;
  texel?: { of: string; part: string; x: number; y: number };
  word?: { line: number; register: string };
}

/** Tells of a change by an event "change". */
export abstract class Selection extends EventTarget {
  abstract address: string;

  /** Select an address. */
  abstract select(address: string, clicked?: Omit<Clicked, "address">): void;

  /** Select an address and what a link is about in it, also at the same address. */
  abstract lead(address: string, detail: Omit<Detail, "address">): void;

  /** Say more exactly what is selected, such as the step of a program, or something close to it. */
  abstract refine(address: string): void;

  /** What the last link was about. */
  abstract get detail(): Detail | null;

  /** The pixel of the picture that was clicked for this address. */
  abstract get clicked(): Clicked | null;

  /** The address without the step of a program. */
  get run(): string {
    return splitStep(this.address).run;
  }

  /** Tell everybody of the selection once more: what it names has changed. */
  again(): void {
    this.dispatchEvent(new Event("change"));
  }
}
