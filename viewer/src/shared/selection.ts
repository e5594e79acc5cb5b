// The selection is the address in the location's fragment: one truth for panels, history, reload and pasted links.

import { fromFragment, toFragment } from "./address";

/** The pixel of a picture that was clicked: its address counts in another way than the picture. */
export interface Clicked {
  address: string;
  of: string;
  x: number;
  y: number;
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
    if (address === this.address) return;
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }
}

export const selection = new Selection();
