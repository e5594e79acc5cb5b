// Memory as rows of cells. It shows a window of addresses, reads what is scrolled into view, and marks bytes.

import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";
import { Paged } from "../shared/paged";
import { problem, working } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { panelStyles } from "../shared/styles";
import { ROW_BYTES, UNITS, cellText, hex, letterOf, rowsOf, spanOf, type MemoryAnswer, type MemoryRow, type Span, type Unit } from "./bytes";

/** Bytes of a window: as many rows as a scrolled box can have. */
export const WINDOW = 1 << 20;
const BLOCK = 256;
const MOST_BLOCKS = 16;
const SPACE = 2 ** 40;

export class HexView extends LitElement {
  static override properties = { place: {}, marked: { attribute: false }, unit: {} };
  static override styles = [
    panelStyles,
    css`
      .row {
        display: flex;
        gap: 1ch;
        cursor: default;
        user-select: none;
      }
      .row > .address {
        color: var(--dim);
        min-width: 12ch;
      }
      .cell {
        flex: none;
        text-align: right;
      }
      .cell:hover {
        background: var(--hover);
      }
      .bytes .cell {
        width: 2ch;
      }
      .u16 .cell {
        width: 4ch;
      }
      .u32 .cell {
        width: 8ch;
      }
      .f32 .cell {
        width: 13ch;
      }
      .f16 .cell {
        width: 10ch;
      }
      .half {
        margin-left: 1ch;
      }
      .cell.none {
        color: var(--dim);
      }
      .cell.marked,
      .letters .marked {
        background: var(--chosen);
        color: var(--strong);
      }
      .letters {
        margin-left: 1ch;
        letter-spacing: 0;
      }
    `,
  ];

  declare place: string;
  declare marked: Span | null;
  declare unit: Unit;
  base = 0;
  private asked = "";
  private shownAt = -1;
  /** The cell at which a selection began, and whether the pointer extends it. */
  private anchor = 0;
  private dragging = false;
  readonly latest = new Latest(() => this.requestUpdate());
  private readonly list = new RowsList(this);
  private readonly rows = new Paged<MemoryRow>(this.latest, (first, count, signal) => this.load(first, count, signal), BLOCK, MOST_BLOCKS);

  constructor() {
    super();
    this.place = "";
    this.marked = null;
    this.unit = "bytes";
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.rows.clear();
  }

  private get count(): number {
    return Math.min(WINDOW, SPACE - this.base) / ROW_BYTES;
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (this.place !== this.asked) {
      this.asked = this.place;
      this.rows.clear();
    }
    const start = this.marked?.address;
    if (changed.has("marked") && start !== undefined && (start < this.base || start >= this.base + WINDOW)) this.moveTo(start);
  }

  protected override updated(): void {
    const { start, end } = this.list.rows.span;
    if (this.place) this.rows.need(start, end);
    const at = this.marked ? this.marked.address : this.base;
    if (at !== this.shownAt) {
      const first = this.shownAt < 0 || Math.abs(at - this.shownAt) > BLOCK * ROW_BYTES;
      this.shownAt = at;
      // The box gets its height with this update.
      requestAnimationFrame(() => this.list.rows.show(Math.floor((at - this.base) / ROW_BYTES), first ? "start" : "auto"));
    }
  }

  /** Show another window. */
  moveTo(address: number): void {
    const bounded = Math.min(Math.max(address, 0), SPACE - ROW_BYTES);
    this.base = Math.floor(bounded / WINDOW) * WINDOW;
    this.shownAt = -1;
    this.rows.clear();
    this.requestUpdate();
  }

  /** The bytes of a span that are there. */
  read({ address, size }: Span): Uint8Array {
    const found: number[] = [];
    for (let at = address; at < address + size; at += 1) {
      const row = this.rows.get(Math.floor((at - this.base) / ROW_BYTES));
      const inside = at % ROW_BYTES;
      if (at < this.base || !row?.known[inside]) break;
      found.push(row.bytes[inside]!);
    }
    return Uint8Array.from(found);
  }

  private async load(first: number, count: number, signal: AbortSignal): Promise<MemoryRow[]> {
    const address = this.base + first * ROW_BYTES;
    const size = Math.min(count, this.count - first) * ROW_BYTES;
    const values = { at: this.place, address: `0x${address.toString(16)}`, size };
    return rowsOf(await askJson<MemoryAnswer>("/api/memory", "memory", values, signal));
  }

  protected override render(): TemplateResult {
    return html`
      ${working(this.latest)}
      ${problem(this.latest.error)}
      <div
        class=${`scroll ${this.unit}`}
        tabindex="0"
        role="grid"
        aria-label=${`Memory from ${hex(this.base)}. Arrow keys move, with Shift they extend.`}
        aria-rowcount=${this.count}
        @pointerdown=${(event: PointerEvent) => this.down(event)}
        @pointermove=${(event: PointerEvent) => this.move(event)}
        @pointerup=${() => (this.dragging = false)}
        @pointerleave=${() => (this.dragging = false)}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
      >
        ${this.list.render(this.place ? this.count : 0, (index) => this.row(index))}
      </div>
    `;
  }

  private isMarked(address: number, size = 1): boolean {
    const marked = this.marked;
    return marked !== null && address < marked.address + marked.size && marked.address < address + size;
  }

  private row(index: number): TemplateResult {
    const row = this.rows.get(index);
    const address = this.base + index * ROW_BYTES;
    const { size } = UNITS[this.unit];
    const cells: TemplateResult[] = [];
    if (row) {
      for (let at = 0; at < ROW_BYTES; at += size) {
        const marked = this.isMarked(address + at, size);
        const classes = `cell${marked ? " marked" : ""}${row.known[at] ? "" : " none"}${at === ROW_BYTES / 2 ? " half" : ""}`;
        cells.push(html`<span class=${classes} role="gridcell" aria-selected=${marked} data-at=${address + at}>${cellText(row, at, this.unit)}</span>`);
      }
    }
    return html`<div class="row" role="row" aria-rowindex=${index + 1}>
      <span class="address" role="rowheader">${hex(address)}</span>${row ? cells : html`<span class="dim">…</span>`}
      ${row ? html`<span class="letters" aria-hidden="true">${this.letters(row, address)}</span>` : nothing}
    </div>`;
  }

  private letters(row: MemoryRow, address: number): TemplateResult[] {
    const parts: TemplateResult[] = [];
    for (let at = 0; at < ROW_BYTES; ) {
      const marked = this.isMarked(address + at);
      let text = "";
      for (; at < ROW_BYTES && this.isMarked(address + at) === marked; at += 1) text += letterOf(row, at);
      parts.push(html`<span class=${marked ? "marked" : ""}>${text}</span>`);
    }
    return parts;
  }

  // -- selecting ----------------------------------------------------------------------------------------------------
  private cellAt(event: Event): number | null {
    const at = (event.composedPath()[0] as HTMLElement).dataset?.["at"];
    return at === undefined ? null : Number(at);
  }

  private down(event: PointerEvent): void {
    const at = this.cellAt(event);
    if (at === null || event.button !== 0) return;
    if (!event.shiftKey) this.anchor = at;
    this.dragging = true;
    this.mark(at, "new");
  }

  private move(event: PointerEvent): void {
    if (!this.dragging || !(event.buttons & 1)) return;
    const at = this.cellAt(event);
    if (at !== null) this.mark(at, "refined");
  }

  private mark(to: number, how: "new" | "refined"): void {
    const span = spanOf(this.anchor, to, UNITS[this.unit].size);
    if (span.address === this.marked?.address && span.size === this.marked.size) return;
    this.dispatchEvent(new CustomEvent("mark", { detail: { span, how } }));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { size } = UNITS[this.unit];
    const page = this.list.rows.page * ROW_BYTES;
    const step = {
      ArrowLeft: -size, ArrowRight: size, ArrowUp: -ROW_BYTES, ArrowDown: ROW_BYTES, PageUp: -page, PageDown: page,
    }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const marked = this.marked ?? { address: this.base, size };
    const last = marked.address + marked.size - size;
    // The end that moves is the one that is not the anchor.
    const from = event.shiftKey ? (this.anchor === marked.address ? last : marked.address) : marked.address;
    if (event.shiftKey && this.anchor !== marked.address && this.anchor !== last) this.anchor = marked.address;
    const to = Math.min(Math.max(from + step, 0), SPACE - size);
    if (!event.shiftKey) this.anchor = to;
    this.mark(to, "refined");
  }
}

customElements.define("pg-hex", HexView);
