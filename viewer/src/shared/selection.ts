// The selection is the address in the location's fragment: one truth for panels, history, reload and pasted links.

import { fromFragment, splitStep, toFragment } from "./address";

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

class Selection extends EventTarget {
  address = fromFragment(location.hash);

  constructor() {
    super();
    addEventListener("popstate", () => this.read());
    addEventListener("hashchange", () => this.read());
  }

  /** Select an address: a new entry of the history. */
  select(address: string, clicked?: Omit<Clicked, "address">): void {
    if (address === this.address && !clicked) return;
    const state = clicked ? { clicked: { ...clicked, address } } : null;
    if (address === this.address) history.replaceState(state, "");
    else history.pushState(state, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** The address without the step of a program. */
  get run(): string {
    return splitStep(this.address).run;
  }

  /** Select an address and what a link is about in it: a new entry of the history, also at the same address. */
  lead(address: string, detail: Omit<Detail, "address">): void {
    history.pushState({ detail: { ...detail, address } }, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Say more exactly what is selected, such as the step of a program, or something close to it: the entry of the history
   * stays, so that it does not keep every step of a key.
   */
  refine(address: string): void {
    if (address === this.address) return;
    const { clicked } = this;
    history.replaceState(clicked ? { clicked: { ...clicked, address } } : null, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** What the last link was about; it lives as long as the entry of the history. */
  get detail(): Detail | null {
    const detail = (history.state as { detail?: Detail } | null)?.detail;
    return detail && detail.address === this.address ? detail : null;
  }

  /** Give an empty page its first address, without an entry of the history. */
  begin(address: string): void {
    history.replaceState(null, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** Tell everybody of the selection once more: what it names has changed. */
  again(): void {
    this.dispatchEvent(new Event("change"));
  }

  /** The pixel of the picture that was clicked for this address; it lives as long as the entry of the history. */
  get clicked(): Clicked | null {
    const clicked = (history.state as { clicked?: Clicked } | null)?.clicked;
    return clicked && clicked.address === this.address ? clicked : null;
  }

  private read(): void {
    const address = fromFragment(location.hash);
    if (address === this.address && !this.detail) return;
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }
}

export const selection = new Selection();
