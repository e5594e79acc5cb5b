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
  private space: HTMLElement | null = null;
  /** Where the rows that are in the document begin, in pixels of the box. */
  private top = 0;
  private awaited: Awaited | undefined;
  /** `awaited.version` when rows were put into the document last. */
  private version = -1;
  /** Runs while the list waits; then it is `late`, until all rows are there. */
  private patience: ReturnType<typeof setTimeout> | undefined;
  private late = false;

  constructor(
    private readonly host: LitElement,
    private readonly selector = ".scroll",
  ) {
    this.rows = new VirtualRows(ROW_HEIGHT, () => this.box, () => this.moved());
    host.addController(this);
  }

  hostUpdated(): void {
    const box = this.box?.isConnected ? this.box : this.host.renderRoot.querySelector<HTMLElement>(this.selector);
    if (box !== this.box) {
      this.rows.stop();
      this.box = box;
      if (box) {
        this.rows.mount();
        this.host.requestUpdate();
      }
    }
    if (!box) return;
    if (!this.space?.isConnected) this.space = box.querySelector<HTMLElement>(".space");
    const rows = this.space?.firstElementChild as HTMLElement | undefined;
    if (!this.space || !rows) return;
    // Set as properties: the page's security policy forbids style attributes.
    this.space.style.height = `${this.rows.height}px`;
    rows.style.transform = `translateY(${this.top}px)`;
  }

  hostDisconnected(): void {
    this.rows.stop();
    this.box = this.space = null;
    this.wait(false);
  }

  /** Other rows are to be seen. While the list waits for all of them there is nothing to render. */
  private moved(): void {
    const { awaited } = this;
    const { span, seen } = this.rows;
    if (awaited && this.isPatient(awaited) && !spanThere(span, seen, awaited)) {
      this.wait(true);
      awaited.need(span.start, span.end);
    } else this.host.requestUpdate();
  }

  /** Whether the rows of before may stay for a moment: not if all rows have become others. */
  private isPatient(awaited: Awaited): boolean {
    return !this.late && awaited.version === this.version;
  }

  /**
   * The rows that are in the document. awaited: tells which of them are there, where they come one after the other. The
   * list waits for them for a moment, so that what is there and what is not need not be put into the document in turn.
   */
  render(count: number, row: (index: number) => unknown, awaited?: Awaited): TemplateResult {
    this.awaited = awaited;
    this.rows.setCount(count);
    const { span, seen } = this.rows;
    const there = awaited ? spanThere(span, seen, awaited) : span;
    this.wait(there !== span);
    const patient = awaited !== undefined && this.isPatient(awaited);
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
