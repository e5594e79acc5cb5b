// A buffer as a table: rows of numbers with the address of each, read as they are scrolled into view.

import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { memoryAt, toFragment } from "../shared/address";
import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";
import { Paged } from "../shared/paged";
import { problem, working } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { showPanel } from "../shared/show_panel";
import { panelStyles } from "../shared/styles";
import { cellText } from "./table_view_text";
import type { TableAnswer, TableInfo } from "./api";

const BLOCK = 250;
const MOST_BLOCKS = 4;

interface Row {
  cells: (number | string)[];
  place: string;
  name: string;
}

export class TableView extends LitElement {
  static override properties = { place: {}, table: { attribute: false } };
  static override styles = [
    panelStyles,
    css`
      .row {
        display: flex;
        gap: 8px;
      }
      .row:hover {
        background: var(--hover);
      }
      .row > span {
        flex: none;
        width: 11ch;
        overflow: hidden;
        text-overflow: ellipsis;
        text-align: right;
      }
      .row > .number {
        width: 7ch;
        color: var(--dim);
      }
      .row > .place,
      .row > .name {
        width: 13ch;
        text-align: left;
      }
      .heads {
        position: sticky;
        top: 0;
        z-index: 1;
        min-width: max-content;
        background: var(--raised);
        border-bottom: 1px solid var(--line);
        color: var(--dim);
      }
      .heads .row:hover {
        background: none;
      }
      .first {
        border-left: 1px solid var(--line);
      }
      .heads .row.groups > span {
        text-align: left;
        overflow: visible;
      }
      .facts {
        padding: 3px 8px;
        overflow-wrap: anywhere;
        border-bottom: 1px solid var(--line);
      }
    `,
  ];

  declare place: string;
  declare table: TableInfo | null;
  private columns: TableAnswer["columns"] = [];
  private named = false;
  private asked = "";
  private readonly latest = new Latest(() => this.requestUpdate());
  private readonly list = new RowsList(this);
  private readonly rows = new Paged<Row>(this.latest, (first, count, signal) => this.load(first, count, signal), BLOCK, MOST_BLOCKS);

  constructor() {
    super();
    this.place = "";
    this.table = null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.rows.clear();
  }

  protected override willUpdate(_changed: PropertyValues): void {
    const key = `${this.place} ${this.table?.of}`;
    if (key === this.asked) return;
    this.asked = key;
    this.columns = [];
    this.rows.clear();
    this.list.rows.show(0);
  }

  protected override updated(): void {
    const { start, end } = this.list.rows.span;
    if (this.table) this.rows.need(start, end);
  }

  private async load(first: number, count: number, signal: AbortSignal): Promise<Row[]> {
    const answer = await askJson<TableAnswer>("/api/table", "table", { at: this.place, of: this.table!.of, first, count }, signal);
    this.columns = answer.columns;
    this.named = answer.names !== undefined;
    return answer.rows.map((cells, at) => ({ cells, place: answer.places[at] ?? "", name: answer.names?.[at] ?? "" }));
  }

  protected override render(): TemplateResult {
    const table = this.table;
    if (!table) return html``;
    return html`
      <div class="facts mono">
        ${table.text} <span class="dim">${table.rows.toLocaleString("en")} rows</span>
        ${table.address && !table.text.includes(table.address) ? this.link(table.address) : nothing}
      </div>
      ${working(this.latest)}
      ${problem(this.latest.error)}
      <div class="scroll" tabindex="0" role="table" aria-label=${table.title} aria-rowcount=${table.rows}>
        <div class="heads" role="rowgroup">${this.heads()}</div>
        ${table.rows ? nothing : html`<div class="note">No rows.</div>`}
        ${this.list.render(table.rows, (index) => this.row(index))}
      </div>
    `;
  }

  private isFirst(index: number): boolean {
    return this.columns[index]!.group !== this.columns[index - 1]?.group;
  }

  private heads(): TemplateResult | typeof nothing {
    if (!this.columns.length) return nothing;
    const lead = html`<span class="number">row</span>${this.named ? html`<span class="name">name</span>` : nothing}<span class="place">address</span>`;
    const none = html`<span class="number"></span>${this.named ? html`<span class="name"></span>` : nothing}<span class="place"></span>`;
    return html`<div class="row groups" aria-hidden="true">
        ${none}${this.columns.map((one, at) => html`<span class=${this.isFirst(at) ? "first" : ""}>${this.isFirst(at) ? one.group : ""}</span>`)}
      </div>
      <div class="row" role="row">
        ${lead}${this.columns.map((one, at) => html`<span role="columnheader" title=${`${one.group} ${one.name}`} class=${this.isFirst(at) ? "first" : ""}>${one.name}</span>`)}
      </div>`;
  }

  private row(index: number): TemplateResult {
    const row = this.rows.get(index);
    return html`<div class="row" role="row" aria-rowindex=${index + 1}>
      <span class="number" role="rowheader">${index}</span>
      ${this.named ? html`<span class="name" role="cell">${row?.name ?? ""}</span>` : nothing}
      <span class="place" role="cell">${row?.place ? this.link(row.place) : ""}</span>
      ${row
        ? row.cells.map((cell, at) => html`<span role="cell" title=${String(cell)} class=${this.columns[at] && this.isFirst(at) ? "first" : ""}>${cellText(cell)}</span>`)
        : html`<span class="dim">…</span>`}
    </div>`;
  }

  private link(address: string): TemplateResult {
    return html`<a
      href=${toFragment(memoryAt(this.place, parseInt(address, 16), 4))}
      @click=${() => showPanel("memory")}
      >${address}</a
    >`;
  }
}

customElements.define("pg-table", TableView);
