// A scrolled list of rows in a panel: ties VirtualRows to the life of a Lit element and to its markup.

import { html, type LitElement, type ReactiveController, type TemplateResult } from "lit";
import { VirtualRows } from "./virtual_rows";

export const ROW_HEIGHT = 20;

export class RowsList implements ReactiveController {
  readonly rows: VirtualRows;
  private box: HTMLElement | null = null;

  constructor(
    private readonly host: LitElement,
    private readonly selector = ".scroll",
  ) {
    this.rows = new VirtualRows(ROW_HEIGHT, () => this.box, () => host.requestUpdate());
    host.addController(this);
  }

  hostUpdated(): void {
    const box = this.host.renderRoot.querySelector<HTMLElement>(this.selector);
    if (box !== this.box) {
      this.rows.stop();
      this.box = box;
      if (box) {
        this.rows.mount();
        this.host.requestUpdate();
      }
    }
    if (!box) return;
    // Set as properties: the page's security policy forbids style attributes.
    const space = box.querySelector<HTMLElement>(".space");
    const rows = box.querySelector<HTMLElement>(".rows");
    if (space) space.style.height = `${this.rows.height}px`;
    if (rows) rows.style.transform = `translateY(${this.rows.top}px)`;
  }

  hostDisconnected(): void {
    this.rows.stop();
    this.box = null;
  }

  /** The rows that are in the document. */
  render(count: number, row: (index: number) => unknown): TemplateResult {
    this.rows.setCount(count);
    const { start, end } = this.rows.span;
    const shown: unknown[] = [];
    for (let index = start; index < end; index += 1) shown.push(row(index));
    return html`<div class="space" role="presentation"><div class="rows" role="presentation">${shown}</div></div>`;
  }
}
