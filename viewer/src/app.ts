// The page: a head with the capture, the address and the switches, and the panels below it.

import { LitElement, html, nothing, type TemplateResult } from "lit";
import { sides } from "./compare/sides";
import { store } from "./events/store";
import { Layout, PANELS } from "./layout";
import { fromFragment, parseAddress } from "./shared/address";
import { download, Superseded } from "./shared/api";
import { notes } from "./notes/store";
import { progress } from "./shared/progress";
import { selection } from "./shared/selection";
import { SHOW_PANEL } from "./shared/show_panel";
import { setTheme, theme, type Theme } from "./theme";

/** Panels with keys: those that a hand finds. */
const NAMES = Object.values(PANELS)
  .slice(0, 9)
  .map(({ title }) => title);

const KEYS: [string, string][] = [
  ["j, k", "next and previous event"],
  ["n, N", "next and previous finding"],
  ["↑ ↓ Home End", "rows of the tree"],
  ["← →", "fold and unfold"],
  ["/", "filter of the events"],
  ["g", "address"],
  ["m", "bookmark of the selection, on or off"],
  ["s", "save a page about the selection"],
  [`F1 to F${NAMES.length}, or Alt+1 to ${NAMES.length}`, NAMES.join(", ")],
  ["arrows, Enter", "in the picture: move the pixel, explain it"],
  ["arrows, Shift+arrows", "in the mesh: turn, move"],
  ["+ − 0 1", "in the picture and the mesh: zoom, all of it, one to one"],
  ["Enter", "in the words: select the event; in their search: next hit, with Shift the previous one"],
  ["n p, → ←", "in the shader: step, step back"],
  ["N P, F8", "in the shader: on and back to a breakpoint or to the picked instruction"],
  ["b, F9", "in the shader: breakpoint"],
  ["x X", "in the shader: on and back to where a NaN or an infinity appears"],
];

export class App extends LitElement {
  private layout: Layout | null = null;
  private busy = "";
  private lost = false;
  /** Why the last page was not saved. */
  private problem = "";
  private progress: EventSource | null = null;

  // Dockview's style sheet is one of the document, so this element has no shadow.
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    selection.addEventListener("change", () => this.selected());
    notes.addEventListener("change", () => this.requestUpdate());
    void notes.open();
    store.addEventListener("change", () => this.requestUpdate());
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener(SHOW_PANEL, (event) => this.layout?.activate((event as CustomEvent<string>).detail));
    void store.open().then(() => {
      if (!selection.address && store.hasFrames) selection.begin("f0");
      this.listen();
      if (store.capture) void sides.read();
    });
  }

  protected override firstUpdated(): void {
    this.layout = new Layout(this.querySelector<HTMLElement>(".dock")!);
    this.selected();
  }

  private selected(): void {
    document.title = selection.address ? `${selection.address} – ${store.capture?.name ?? "pocketgpu view"}` : "pocketgpu view";
    this.requestUpdate();
  }

  /** What the machine does is shown in the head, whichever panel asked. */
  private listen(): void {
    if (!store.capture || this.progress) return;
    this.progress = new EventSource("/api/progress");
    this.progress.onmessage = (event: MessageEvent<string>) => {
      const heard = JSON.parse(event.data) as { busy: boolean; panel?: string; done?: number; of?: number };
      progress.heard(heard);
      const { busy, panel } = heard;
      this.busy = busy ? (panel ?? "…") : "";
      this.requestUpdate();
    };
    this.progress.onopen = () => this.connected(true);
    // The browser tries again by itself.
    this.progress.onerror = () => this.connected(false);
  }

  private connected(connected: boolean): void {
    this.lost = !connected;
    this.busy = "";
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const capture = store.capture;
    const address = selection.address;
    return html`
      <header>
        <h1>${capture?.name ?? "pocketgpu view"}</h1>
        ${capture
          ? html`<span class="facts">${capture.console} · ${capture.frames} ${capture.frames === 1 ? "frame" : "frames"}</span>`
          : nothing}
        <form class="go" @submit=${(event: Event) => this.go(event)}>
          <input
            id="address"
            type="text"
            spellcheck="false"
            autocomplete="off"
            aria-label="Address"
            aria-invalid=${address !== "" && !parseAddress(address)}
            title="Address of the selection: f3, f3/d17, f3/top/px8,9 (g)"
            .value=${address}
          />
        </form>
        <span class="busy" role="status">${this.lost ? "the server does not answer" : this.busy ? `works: ${this.busy}` : ""}</span>
        ${this.problem ? html`<span class="problem" role="alert">not saved: ${this.problem}</span>` : nothing}
        <span class="end">
          <button
            type="button"
            class="bookmark"
            aria-pressed=${notes.of(address) !== null}
            aria-label="Bookmark"
            title="Bookmark of the selection (m)"
            ?disabled=${!address}
            @click=${() => this.bookmark()}
          >
            ${notes.of(address) ? "★" : "☆"}
          </button>
          <button
            type="button"
            title="Save a page about the selection: pictures, reasons and state in one HTML file (s)"
            ?disabled=${!address}
            @click=${() => this.save()}
          >
            Save
          </button>
          <button type="button" title="Panels back to their first places" @click=${() => this.layout?.arrange()}>Layout</button>
          <select aria-label="Colours" .value=${theme()} @change=${(event: Event) => this.setTheme(event)}>
            <option value="system">system</option>
            <option value="dark">dark</option>
            <option value="light">light</option>
          </select>
          <button type="button" aria-label="Keys" title="Keys (?)" @click=${() => this.help()}>?</button>
        </span>
      </header>
      <main class="dock" aria-label="Panels"></main>
      <dialog aria-label="Keys">
        <h2>Keys</h2>
        <table>
          ${KEYS.map(([key, what]) => html`<tr><th scope="row">${key}</th><td>${what}</td></tr>`)}
        </table>
        <form method="dialog"><button>Close</button></form>
      </dialog>
    `;
  }

  private go(event: Event): void {
    event.preventDefault();
    // Of a pasted link, or of "scene.pgc#f1/d17", the address is what follows the mark.
    const text = this.querySelector<HTMLInputElement>("#address")!.value;
    const address = fromFragment(text.slice(text.lastIndexOf("#") + 1)).trim();
    if (address) selection.select(address);
  }

  /** A bookmark is a note without a text; a note with one is removed in its panel only. */
  private bookmark(): void {
    const { address } = selection;
    const known = notes.of(address);
    if (!address) return;
    if (!known) void notes.put(address, "").then(() => this.layoutNotes());
    else if (!known.text) void notes.remove(address);
    else this.layout?.activate("notes");
  }

  /** Where a bookmark could not be written, its panel says why. */
  private layoutNotes(): void {
    if (notes.latest.error) this.layout?.activate("notes");
  }

  private save(): void {
    this.problem = "";
    void download("/api/page", "save", { at: selection.address }).catch((error: unknown) => {
      if (error instanceof Superseded) return;
      this.problem = error instanceof Error ? error.message : String(error);
      this.requestUpdate();
    });
  }

  private setTheme(event: Event): void {
    setTheme((event.target as HTMLSelectElement).value as Theme);
  }

  private help(): void {
    this.querySelector("dialog")?.showModal();
  }

  private key(event: KeyboardEvent): void {
    const panel = /^F([1-9])$/.exec(event.key)?.[1] ?? (event.altKey ? /^Digit([1-9])$/.exec(event.code)?.[1] : undefined);
    if (panel && Number(panel) <= NAMES.length && !event.ctrlKey && !event.metaKey) {
      this.layout?.activate(Object.keys(PANELS)[Number(panel) - 1]!);
      event.preventDefault();
      return;
    }
    const focus = event.composedPath()[0];
    const typing = focus instanceof HTMLElement && focus.matches("input:not([type=checkbox]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "s") this.save();
    else if (event.key === "m") this.bookmark();
    else if (event.key === "g") this.querySelector<HTMLInputElement>("#address")?.select();
    else if (event.key === "/") {
      this.layout?.activate("events");
      const events = this.querySelector("pg-events");
      requestAnimationFrame(() => events?.shadowRoot?.querySelector<HTMLInputElement>(".filter")?.focus());
    } else if (event.key === "?") this.help();
    else return;
    event.preventDefault();
  }
}

customElements.define("pg-app", App);
