// A scrolled list of rows in a panel: ties VirtualRows to the life of a Lit element and to its markup.

import { html, noChange, type LitElement, type ReactiveController, type TemplateResult } from "lit";
import { rolling } from "./rolling";
import { VirtualRows, spanThere, type Awaited, type Span } from "./virtual_rows";

export const ROW_HEIGHT = 20;
/** How long the list waits for rows before it shows that they are not there. Most answers come sooner. */
const PATIENCE_MS = 100;

export class RowsList implements ReactiveController {
  readonly rows: VirtualRows;
  private box: HTMLElement | null = null;
  /** Where the rows that are in the document begin, in pixels of the box. */
  private top = 0;
  /** Of `Awaited`, when rows were put into the document last. */
  private version = -1;
  /** Runs while the list waits; then it is `late`, until all rows are there. */
  private patience: ReturnType<typeof setTimeout> | undefined;
  private late = false;

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
    const rows = space?.firstElementChild as HTMLElement | undefined;
    if (space) space.style.height = `${this.rows.height}px`;
    if (rows) rows.style.top = `${this.top}px`;
  }

  hostDisconnected(): void {
    this.rows.stop();
    this.box = null;
    this.wait(false);
  }

  /**
   * The rows that are in the document. awaited: tells which of them are there, where they come one after the other. The
   * list waits for them for a moment, so that what is there and what is not need not be put into the document in turn.
   */
  render(count: number, row: (index: number) => unknown, awaited?: Awaited): TemplateResult {
    this.rows.setCount(count);
    const { span } = this.rows;
    const there = awaited ? spanThere(span, this.rows.seen, awaited) : span;
    this.wait(there !== span);
    // Rows of something else are not kept.
    const patient = !this.late && awaited?.version === this.version;
    if (awaited) this.version = awaited.version;
    return html`<div class="space" role="presentation"><div class="rows" role="presentation">${
      patient && !there ? noChange : this.some((patient && there) || span, row)
    }</div></div>`;
  }

  private some({ start, end }: Span, row: (index: number) => unknown): unknown {
    this.top = this.rows.topOf(start);
    const shown: unknown[] = [];
    for (let index = start; index < end; index += 1) shown.push(row(index));
    return rolling(start, shown);
  }

  private wait(on: boolean): void {
    if (on) {
      this.patience ??= setTimeout(() => {
        this.late = true;
        this.host.requestUpdate();
      }, PATIENCE_MS);
      return;
    }
    clearTimeout(this.patience);
    this.patience = undefined;
    this.late = false;
  }
}
