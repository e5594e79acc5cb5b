// The panel of words: the whole command stream, word by word. The words of the selected event are marked in it.

import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { store } from "../events/store";
import { parseAddress, placeOfText, toFragment } from "../shared/address";
import { checkBox } from "../shared/check_box";
import { grouped } from "../shared/numbers";
import { Panel } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import type { FindAnswer, StreamRow, View } from "./api";
import { addressOf } from "./line";
import { StreamTable } from "./stream";
import { rowStyles } from "./styles";

/** How long a hand may pause while it types what to look for. */
const TYPING_MS = 150;

export class WordsPanel extends Panel {
  static override styles = [
    panelStyles,
    rowStyles,
    css`
      .bar .grow {
        flex: 1 1 140px;
      }
      .hits {
        min-width: 9ch;
      }
    `,
  ];

  private readonly list = new RowsList(this);
  private readonly table = new StreamTable(() => this.requestUpdate());
  /** The rows of the selected event. */
  private extent: [number, number] | null = null;
  /** The row that was clicked, found or led to: its number in the stream, and its place in the list. */
  private marked: number | null = null;
  private cursor: number | null = null;
  /** Where in the stream the user is: what is looked for is looked for from here. */
  private here = 0;
  private changedOnly = false;
  private issued = true;
  private eventOnly = false;
  private hitsOnly = false;
  private typing: ReturnType<typeof setTimeout> | undefined;
  /** What was found last: which hit it is, or that there is none. */
  private found: FindAnswer | null = null;
  /** The selection is the panel's own: the list stays where it is. */
  private own = false;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.typing);
    this.table.stop();
  }

  protected selected(): void {
    const at = placeOfText(selection.address);
    if (!at) return;
    // Another capture has the same addresses, but other words.
    if (!this.asked) this.table.forget();
    const { own } = this;
    const same = at === this.asked && this.table.sifted?.done && !selection.detail?.word;
    this.asked = at;
    if (!same) void this.follow(at, own);
  }

  /** Mark the words of the selection, and bring them into view unless the list is to stay. */
  private async follow(at: string, stay: boolean): Promise<void> {
    const { table } = this;
    await table.read();
    if (!table.open || at !== this.asked) return;
    if (!table.sifted?.done || (this.eventOnly && table.view.within !== at)) await table.show(this.view(at));
    if (!table.sifted?.done || at !== this.asked) return;
    const line = stay ? null : (selection.detail?.word?.line ?? null);
    await table.place(at, line, this.marked, (found) => {
      const parsed = parseAddress(at);
      const inFrame = parsed !== null && (parsed.draw ?? parsed.event ?? parsed.pass) !== undefined;
      this.extent = inFrame ? [found.first, found.end] : null;
      if (stay) return;
      this.marked = line === null ? null : found.row;
      this.cursor = found.index;
      this.here = found.row;
      this.reveal(found.index, line === null ? "start" : "center");
    });
  }

  private view(at: string): View {
    return {
      text: this.hitsOnly ? this.table.find : "",
      changed: this.changedOnly,
      issued: this.issued,
      within: this.eventOnly ? at : "",
    };
  }

  /** Show other rows, and keep the place. */
  private async reshape(): Promise<void> {
    const { table } = this;
    const kept = this.marked ?? table.rows.get(this.topRow)?.row ?? this.here;
    await table.show(this.view(this.asked));
    if (!table.sifted?.done) return;
    if (table.find) void table.look(table.find);
    await table.place(this.asked, null, kept, (found) => {
      this.cursor = found.kept ?? found.index;
      this.reveal(this.cursor, "center");
    });
  }

  /** The first row of the list that can be seen, or one close to it. */
  private get topRow(): number {
    const { start, end } = this.list.rows.span;
    return start === 0 ? 0 : Math.floor((start + end - this.list.rows.page) / 2);
  }

  /** Bring a row into view. The list must know how many rows there are, and the box may just have come into view. */
  private reveal(index: number, align: "auto" | "center" | "start" = "auto"): void {
    this.requestUpdate();
    void this.updateComplete.then(() =>
      requestAnimationFrame(() => this.list.rows.show(Math.min(index, this.table.count - 1), align)),
    );
  }

  // -- looking for words ---------------------------------------------------------------------------------------------
  private type(text: string): void {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => void this.look(text.trim()), TYPING_MS);
  }

  private async look(text: string): Promise<void> {
    if (text === this.table.find) return;
    this.found = null;
    const counting = this.table.look(text);
    if (this.hitsOnly) await this.reshape();
    else if (text) this.next("next", true);
    await counting;
  }

  /** Go to the next or previous hit. here: the row of the cursor counts as well. */
  private next(way: "next" | "previous", here = false): void {
    const { table } = this;
    if (!table.find || !table.open) return;
    const from = this.here;
    void table.hit(here ? (from > 0 ? from - 1 : null) : from, way, (found) => {
      this.found = found;
      if (found.row === null || found.index === null) return;
      this.put(found.index, found.row);
      this.reveal(found.index, "center");
    });
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      const text = (event.target as HTMLInputElement).value.trim();
      clearTimeout(this.typing);
      if (text !== this.table.find) void this.look(text);
      else this.next(event.shiftKey ? "previous" : "next");
    } else if (event.key === "ArrowDown") this.renderRoot.querySelector<HTMLElement>(".scroll")?.focus();
    else return;
    event.preventDefault();
  }

  // -- choosing words ------------------------------------------------------------------------------------------------
  /** Put the cursor on a row. row: its number in the stream, if it is there. */
  private put(index: number, row: number | undefined): void {
    this.cursor = index;
    this.marked = row ?? null;
    if (row !== undefined) this.here = row;
    this.requestUpdate();
  }

  /** Move the cursor to a row, which may have to be read first. */
  private point(index: number): void {
    const target = Math.min(Math.max(index, 0), this.table.count - 1);
    this.put(target, this.table.rows.get(target)?.row);
    this.reveal(target);
  }

  /** Select the event of a row. */
  private choose(index: number): void {
    const row = this.table.rows.get(index)?.row;
    if (row === undefined) return;
    this.put(index, row);
    void this.table.eventOf(row, ({ at, line }) => {
      if (at === placeOfText(selection.address)) return;
      this.own = true;
      selection.lead(at, { word: { line, register: "" } });
      this.own = false;
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.table.count) return;
    const { page } = this.list.rows;
    const now = this.cursor ?? this.topRow;
    const target: Record<string, number> = {
      ArrowDown: now + 1,
      ArrowUp: now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: this.table.count - 1,
    };
    if (event.key in target) this.point(target[event.key]!);
    else if (event.key === "Enter") this.choose(now);
    else return;
    event.preventDefault();
  }

  // -- what is shown -------------------------------------------------------------------------------------------------
  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    if (!this.table.count) return;
    const { start, end } = this.list.rows.span;
    this.table.rows.total = this.table.count;
    this.table.rows.need(start, end);
    // A key may have moved the cursor to a row that had to be read first.
    if (this.marked !== null || this.cursor === null || !this.renderRoot.querySelector(".scroll:focus")) return;
    const row = this.table.rows.get(this.cursor)?.row;
    if (row !== undefined) this.put(this.cursor, row);
  }

  protected override render(): TemplateResult {
    const { table } = this;
    const { count } = table;
    const box = (text: string, on: boolean, set: (on: boolean) => void, title: string): TemplateResult =>
      checkBox(text, on, (to) => {
        set(to);
        void this.reshape();
      }, title);
    return html`
      <div class="bar">
        ${searchField(
          "Find words",
          "Find words by register, value, field or address",
          table.find,
          (text) => this.type(text),
          (event) => this.searchKey(event),
        )}
        <span class="group">
          <button title="previous hit (Shift+Enter)" aria-label="Previous hit" ?disabled=${!table.find} @click=${() => this.next("previous")}>↑</button>
          <button title="next hit (Enter)" aria-label="Next hit" ?disabled=${!table.find} @click=${() => this.next("next")}>↓</button>
        </span>
        ${table.find ? html`<span class="hits dim" role="status">${this.hitsText()}</span>` : nothing}
        ${box("hits only", this.hitsOnly, (on) => (this.hitsOnly = on), "only words in which it is found")}
        ${box("changed only", this.changedOnly, (on) => (this.changedOnly = on), "only writes that make a register differ from the last draw")}
        ${box("this event only", this.eventOnly, (on) => (this.eventOnly = on), "only words of what is selected")}
        ${table.open?.issued ? box("macros", this.issued, (on) => (this.issued = on), "also methods that macros issue") : nothing}
        <span class="dim mono count">${this.countText()}</span>
      </div>
      ${this.working(...table.all)} ${table.all.map((one) => this.problem(one.error))}
      <div
        class="scroll"
        tabindex="0"
        role="grid"
        aria-label="Words"
        aria-rowcount=${count}
        aria-activedescendant=${this.cursor === null ? nothing : `word-${this.cursor}`}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
        @click=${(event: Event) => this.choose(WordsPanel.indexOf(event))}
        @pointerover=${(event: Event) => this.over(event)}
      >
        ${!table.open && !table.opening.error ? html`<div class="note">The command stream is read…</div>` : nothing}
        ${table.sifted?.done && !count ? html`<div class="note">${this.eventOnly ? "No words here belong to what is selected." : "No words."}</div>` : nothing}
        ${this.list.render(count, (index) => this.row(index), table.rows)}
      </div>
    `;
  }

  private countText(): string {
    const { open, sifted } = this.table;
    if (!open || !sifted) return "";
    if (sifted.done && sifted.found === open.rows) return `${grouped(open.words)} words`;
    const shown = `${grouped(sifted.found)} of ${grouped(open.rows)} rows`;
    return sifted.done ? shown : `${shown}, ${share(sifted.scanned, sifted.of)} looked at`;
  }

  private hitsText(): string {
    const { hits, finding } = this.table;
    const { found } = this;
    if (found && found.row === null && finding.state === "idle") return "no hits";
    const count = hits ? grouped(hits.found) : "…";
    const all = hits?.done ?? false;
    const more = all ? "" : hits ? `+ (${share(hits.scanned, hits.of)})` : "";
    return found?.hit != null ? `${grouped(found.hit + 1)} of ${count}${more}` : `${count}${more} hits`;
  }

  private row(index: number): TemplateResult {
    const row = this.table.rows.get(index);
    const marked = row !== undefined && row.row === this.marked;
    const id = index === this.cursor ? `word-${index}` : nothing;
    if (!row) return html`<div id=${id} class="row waiting" role="row" aria-rowindex=${index + 1}><span role="gridcell">…</span></div>`;
    const { line, columns } = row;
    let classes = "row";
    if (columns.changed) classes += " changed";
    if (columns.kind) classes += " other";
    if (row.hit) classes += " hit";
    if (this.extent && row.row >= this.extent[0] && row.row < this.extent[1]) classes += " inside";
    if (line.position === 0 && line.what !== "issued") classes += " begin";
    if (marked) classes += " marked";
    // Each part of this template is looked at in each step of scrolling: there are as few as can be.
    return html`<div id=${id} class=${classes} role="row" aria-rowindex=${index + 1} aria-selected=${marked ? "true" : "false"}
      ><span class="place" role="gridcell">${this.place(row, this.table.rows.get(index - 1))}</span
      ><span class="address" role="gridcell">${line.what === "issued" ? "  ↳ macro" : columns.address}</span
      ><span class="word" role="gridcell">${columns.word}</span
      ><span class="mark" role="gridcell">${columns.changed ? "*" : ""}</span
      ><span class="register" role="gridcell">${columns.register}</span
      ><span class="text" role="gridcell"><span class="kind">${columns.kind && `${columns.kind}  `}</span>${columns.text}</span
    ></div>`;
  }

  /** The index of the row that an event is about. */
  private static indexOf(event: Event): number {
    const row = (event.target as HTMLElement).closest<HTMLElement>(".row");
    return Number(row?.getAttribute("aria-rowindex") ?? 0) - 1;
  }

  /** The pointer comes to a row: only then its title is needed. */
  private over(event: Event): void {
    const target = event.target as HTMLElement;
    const row = this.table.rows.get(WordsPanel.indexOf(event));
    if (!row) return;
    const { line, columns } = row;
    const title = line.position === 0 ? `list ${line.list} begins` : `${columns.register} ${columns.text}`.trim();
    target.closest<HTMLElement>(".row")!.title = title;
    if (target.matches(".mark")) target.title = columns.changed ? "changed since the last draw" : "";
  }

  /** The frame or draw of a row, where it begins. */
  private place(row: StreamRow, before: StreamRow | undefined): TemplateResult | typeof nothing {
    const { at } = row.line;
    if (at === undefined || before?.line.at === at) return nothing;
    const address = addressOf(at, store.capture?.frames ?? 0);
    return html`<a href=${toFragment(address)} tabindex="-1" @click=${(event: Event) => event.stopPropagation()}>${address}</a>`;
  }
}

function share(part: number, of: number): string {
  return `${Math.floor((100 * part) / Math.max(of, 1))}%`;
}

customElements.define("pg-words", WordsPanel);
