// What all panels have: the selection, one question at a time, its errors, and links to addresses.

import { LitElement, html, nothing, type TemplateResult } from "lit";
import { findAddresses, toFragment } from "./address";
import type { RequestError } from "./asker";
import { Latest } from "./latest";
import type { Session } from "./session";
import { panelStyles } from "./styles";

export abstract class Panel extends LitElement {
  static override styles = [panelStyles];

  /** Given by whoever makes the panel, before it is in a document. */
  session!: Session;
  protected readonly latest = new Latest(() => this.requestUpdate());
  /** What the last question was about. */
  protected asked = "";
  private readonly onSelection = (): void => this.selected();

  /** Another capture has the same addresses. */
  private readonly onReopen = (): void => {
    this.asked = "";
  };

  override connectedCallback(): void {
    super.connectedCallback();
    const { store, selection } = this.session;
    store.addEventListener("reopen", this.onReopen);
    selection.addEventListener("change", this.onSelection);
    // The layout may move a panel in the document at once again. And the machine answers in turn: the tree comes first.
    void store.needFor(selection.address).then(() => {
      if (this.isConnected && store.capture) this.selected();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.session.selection.removeEventListener("change", this.onSelection);
    this.session.store.removeEventListener("reopen", this.onReopen);
    // A panel that is hidden keeps its answer, and asks again for what it did not get.
    if (this.latest.state !== "idle" || this.latest.error) this.asked = "";
    this.latest.stop();
  }

  /** The selection changed, or the panel came into view. */
  protected abstract selected(): void;

  /** Bring another panel to the front: what was selected is shown there. */
  protected openPanel(id: string): void {
    this.session.show(id);
  }

  protected working(...others: Latest[]): TemplateResult {
    return working(this.latest, ...others);
  }

  protected problem(error: RequestError | null): TemplateResult | typeof nothing {
    return problem(error);
  }
}

/** A line that moves while one of the answers is awaited for some time. */
export function working(...latests: Latest[]): TemplateResult {
  const on = latests.some((latest) => latest.state === "slow");
  return html`<div class=${on ? "working on" : "working"} role="status" aria-label=${on ? "waiting for the answer" : ""}></div>`;
}

/** What a request was refused with. */
export function problem(error: RequestError | null): TemplateResult | typeof nothing {
  if (!error) return nothing;
  return html`<div class="problem" role="alert">
    <p><strong>${error.message}</strong></p>
    ${error.location ? html`<p class="mono">at ${linked(error.location)}</p>` : nothing}
    ${error.hint ? html`<p>${linked(error.hint)}</p>` : nothing}
  </div>`;
}

/** A text whose addresses are links. The link's target is the selection itself, so the browser does the rest. */
export function linked(text: string): (string | TemplateResult)[] {
  return findAddresses(text).map((piece) =>
    piece.address ? html`<a href=${toFragment(piece.address)}>${piece.text}</a>` : piece.text,
  );
}
