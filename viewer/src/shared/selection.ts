// The selection is the address in the location's fragment: one truth for panels, history, reload and pasted links.

import { fromFragment, toFragment } from "./address";
import { Selection, type Clicked, type Detail } from "./selections";

export type { Clicked, Detail } from "./selections";

class PageSelection extends Selection {
  address = fromFragment(location.hash);

  constructor() {
    super();
    addEventListener("popstate", () => this.read());
    addEventListener("hashchange", () => this.read());
  }

  /** A new entry of the history. */
  select(address: string, clicked?: Omit<Clicked, "address">): void {
    if (address === this.address && !clicked) return;
    const state = clicked ? { clicked: { ...clicked, address } } : null;
    if (address === this.address) history.replaceState(state, "");
    else history.pushState(state, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** A new entry of the history. */
  lead(address: string, detail: Omit<Detail, "address">): void {
    history.pushState({ detail: { ...detail, address } }, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** The entry of the history stays, so that it does not keep every step of a key. */
  refine(address: string): void {
    if (address === this.address) return;
    const { clicked } = this;
    history.replaceState(clicked ? { clicked: { ...clicked, address } } : null, "", toFragment(address));
    this.address = address;
    this.dispatchEvent(new Event("change"));
  }

  /** It lives as long as the entry of the history. */
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

  /** It lives as long as the entry of the history. */
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

export const selection = new PageSelection();
