// The panel of events: a tree that is walked by keyboard and pointer.

import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import { checkBox } from "../shared/check_box";
import { grouped } from "../shared/numbers";
import { Panel } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { badge, findingsList } from "./findings_list";
import { COSTS, short, type Cost } from "./marks";
import { store } from "./store";
import { EVENT, FRAME, PASS, type Filter, type Row } from "./tree";

/** While a key is held down the selection follows when it rests, so that each row does not start requests. */
const REST_MS = 120;

export class EventsPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      :host {
        container-type: inline-size;
      }
      .row {
        display: flex;
        gap: 6px;
        cursor: default;
        padding: 0 8px 0 4px;
        width: 100%;
      }
      .row:hover {
        background: var(--hover);
      }
      .row.chosen {
        background: var(--chosen);
        color: var(--strong);
      }
      .scroll:focus .row.cursor {
        box-shadow: inset 0 0 0 1px var(--accent);
      }
      .rows {
        width: 100%;
      }
      .l2 {
        padding-left: 18px;
      }
      .l3 {
        padding-left: 32px;
      }
      .fold {
        width: 12px;
        flex: none;
        text-align: center;
        color: var(--dim);
      }
      .frame .title,
      .pass .title {
        font-weight: 600;
      }
      .title {
        flex: 1 1 0;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .number {
        flex: none;
        min-width: 4ch;
        text-align: right;
        color: var(--dim);
      }
      .kind {
        flex: none;
        width: 9ch;
        overflow: hidden;
        color: var(--dim);
      }
      .draw :is(.kind, .number) {
        color: var(--draw);
      }
      :is(.fill, .clear) :is(.kind, .number) {
        color: var(--fill);
      }
      :is(.show, .transfer) :is(.kind, .number) {
        color: var(--show);
      }
      /* Titles say most of what the kind says: they get the room. */
      @container (max-width: 320px) {
        .kind {
          display: none;
        }
      }
      .count {
        flex: none;
        color: var(--dim);
      }
      .cost {
        flex: none;
        min-width: 6ch;
        text-align: right;
        color: var(--text);
        background: linear-gradient(var(--bar), var(--bar)) no-repeat right / var(--part, 0%) 100%;
      }
      .row {
        --bar: color-mix(in srgb, var(--accent) 35%, transparent);
      }
      .badge {
        flex: none;
        font-size: 11px;
      }
      :is(.of-error .sign, .badge.of-error) {
        color: var(--bad);
      }
      :is(.of-warning .sign, .badge.of-warning) {
        color: var(--fill);
      }
      :is(.of-note .sign, .badge.of-note) {
        color: var(--dim);
      }
      .bar .filter {
        flex-basis: 150px;
      }
      .findings {
        flex: 0 1 auto;
        max-height: 32%;
        overflow: auto;
        margin: 0;
        padding: 4px 8px;
        list-style: none;
        border-top: 1px solid var(--line);
      }
      .findings li {
        display: flex;
        gap: 6px;
        padding: 2px 0;
      }
      .findings .hint {
        display: block;
        color: var(--dim);
      }
      .foot {
        padding: 2px 8px;
        border-top: 1px solid var(--line);
        color: var(--dim);
        background: var(--raised);
        white-space: nowrap;
        overflow: hidden;
        text-overflow: ellipsis;
        flex: none;
      }
    `,
  ];

  private readonly list = new RowsList(this);
  private cursor = 0;
  private text = "";
  private drawsOnly = false;
  private findingsOnly = false;
  private cost: Cost | null = null;
  /** How many findings the list below the rows has. */
  private listed = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly onStore = (): void => this.requestUpdate();
  private readonly onKey = (event: KeyboardEvent): void => this.globalKey(event);

  override connectedCallback(): void {
    store.addEventListener("change", this.onStore);
    document.addEventListener("keydown", this.onKey);
    super.connectedCallback();
  }

  override disconnectedCallback(): void {
    store.removeEventListener("change", this.onStore);
    document.removeEventListener("keydown", this.onKey);
    clearTimeout(this.resting);
    super.disconnectedCallback();
  }

  protected selected(): void {
    const address = selection.address;
    void store.needFor(address).then(() => {
      // Something else may be selected by now.
      if (address !== selection.address || !this.isConnected) return;
      store.tree.reveal(address);
      this.goTo(store.tree.rowOf(address));
      this.needMarks(address);
    });
  }

  /** What belongs to the rows of the selected frame, but comes after them. */
  private needMarks(address: string): void {
    const frame = parseAddress(address)?.frame;
    if (frame === undefined) return;
    void store.needFindings(frame);
    if (this.cost) void store.needCosts(frame);
  }

  protected override render(): TemplateResult {
    const tree = store.tree;
    const { found, events, draws, unread } = tree.totals;
    const foot = tree.filtered
      ? `${found} of ${events} events${unread ? `; ${unread} frames not opened` : ""}`
      : `${tree.frames.length} ${tree.frames.length === 1 ? "frame" : "frames"}${events ? ` · ${draws} ${draws === 1 ? "draw" : "draws"}, ${events} events read` : ""}`;
    const place = placeOfText(selection.address);
    return html`
      <div class="bar">
        ${searchField(
          "Filter by title or kind",
          "Filter events by title or kind",
          this.text,
          (text) => this.filter({ text }),
          (event) => this.filterKey(event),
        )}
        ${checkBox("draws only", this.drawsOnly, (drawsOnly) => this.filter({ drawsOnly }))}
        ${checkBox(
          "findings only",
          this.findingsOnly,
          (findingsOnly) => this.filter({ findingsOnly }),
          "Events where check found something (n and N go to the next one and the one before)",
        )}
        <select aria-label="Cost beside the events" title="What draws cost, beside the events" @change=${(event: Event) => this.setCost((event.target as HTMLSelectElement).value)}>
          <option value="">no costs</option>
          ${COSTS.map((one) => html`<option value=${one} .selected=${one === this.cost}>${one}</option>`)}
        </select>
      </div>
      ${this.working(store.opening, store.frames, store.costs)}
      ${this.problem(store.opening.error ?? store.frames.error ?? store.costs.error)}
      <div
        class="scroll"
        role="tree"
        tabindex="0"
        aria-label="Frames, passes and events"
        aria-activedescendant=${`row-${this.cursor}`}
        @keydown=${(event: KeyboardEvent) => this.treeKey(event)}
        @click=${(event: MouseEvent) => this.clicked(event)}
      >
        ${this.list.render(tree.count, (index) => this.row(index, tree.row(index), place))}
      </div>
      ${findingsList(tree.findingsAt(selection.address), place)}
      <div class="foot" title=${foot}>${this.footOfFindings()}${foot}</div>
    `;
  }

  private row(index: number, row: Row | null, place: string): TemplateResult | typeof nothing {
    if (!row) return nothing;
    const chosen = row.address === place;
    const name = row.address.slice(row.address.indexOf("/") + 1);
    return html`<div
      id=${`row-${index}`}
      class=${`row l${row.level} ${row.kind}${chosen ? " chosen" : ""}${index === this.cursor ? " cursor" : ""}`}
      role="treeitem"
      aria-level=${row.level}
      aria-selected=${chosen}
      aria-expanded=${row.open ?? nothing}
      data-row=${index}
      title=${row.title}
    >
      <span class="fold" aria-hidden="true">${row.open === null ? "" : row.open ? "▾" : "▸"}</span>
      <span class="number">${row.type === FRAME || row.type === PASS || row.type === EVENT ? name : ""}</span>
      ${row.type === EVENT ? html`<span class="kind">${row.kind}</span>` : nothing}
      <span class="title">${row.title}</span>${badge(row.findings)}${this.costCell(row)}${row.counts && !this.cost
        ? html`<span class="count">${row.counts}</span>`
        : nothing}
    </div>`;
  }

  private costCell(row: Row): TemplateResult | typeof nothing {
    if (!this.cost || !row.costs) return nothing;
    const value = row.costs[this.cost];
    const title = COSTS.map((one) => `${grouped(row.costs![one])} ${one}`).join(", ");
    const part = row.type === EVENT ? Math.round((100 * value) / (store.tree.most[this.cost] || 1)) : 0;
    return html`<span class="cost" data-part=${part} title=${title}>${short(value)}</span>`;
  }

  private footOfFindings(): string {
    const frame = store.tree.frames[parseAddress(selection.address)?.frame ?? -1];
    if (store.findings.error) return `findings: ${store.findings.error.message} · `;
    if (!frame?.marks) return store.findings.state === "idle" ? "" : "looks for findings · ";
    const count = [...frame.marks.values()].reduce((sum, some) => sum + some.length, 0);
    return `${count} ${count === 1 ? "finding" : "findings"} in f${frame.number} · `;
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    // Findings take room from the rows: the one with the cursor stays in view.
    const findings = this.renderRoot.querySelectorAll(".findings li").length;
    if (findings !== this.listed) {
      this.listed = findings;
      requestAnimationFrame(() => this.list.rows.show(this.cursor));
    }
    if (!this.cost) return;
    // As properties, as the page's security policy forbids style attributes.
    for (const one of this.renderRoot.querySelectorAll<HTMLElement>(".cost")) one.style.setProperty("--part", `${one.dataset["part"]}%`);
  }

  private setCost(cost: string): void {
    this.cost = COSTS.find((one) => one === cost) ?? null;
    this.needMarks(selection.address);
    this.requestUpdate();
  }

  private filter(change: Partial<Filter>): void {
    const { text = this.text, drawsOnly = this.drawsOnly, findingsOnly = this.findingsOnly } = change;
    this.text = text;
    this.drawsOnly = drawsOnly;
    this.findingsOnly = findingsOnly;
    store.tree.setFilter({ text, drawsOnly, findingsOnly });
    this.cursor = Math.max(0, store.tree.rowOf(selection.address));
    this.requestUpdate();
  }

  private filterKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      this.renderRoot.querySelector<HTMLElement>(".scroll")?.focus();
    }
  }

  private clicked(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>(".row");
    if (!row) return;
    const index = Number(row.dataset["row"]);
    if (target.closest(".fold") && store.tree.row(index)?.open !== null) {
      this.fold(index, !store.tree.row(index)!.open);
      return;
    }
    this.goTo(index);
    this.choose(false);
  }

  private treeKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = store.tree.row(this.cursor);
    const last = store.tree.count - 1;
    const moves: Record<string, () => number> = {
      ArrowDown: () => this.cursor + 1,
      ArrowUp: () => this.cursor - 1,
      PageDown: () => this.cursor + this.list.rows.page,
      PageUp: () => this.cursor - this.list.rows.page,
      Home: () => 0,
      End: () => last,
    };
    const move = moves[event.key];
    if (move) {
      this.goTo(Math.min(last, Math.max(0, move())));
      this.choose(event.repeat);
    } else if (event.key === "ArrowRight" && row?.open !== null) {
      if (row && !row.open) this.fold(this.cursor, true);
      else this.goTo(Math.min(last, this.cursor + 1));
    } else if (event.key === "ArrowLeft") {
      if (row?.open) this.fold(this.cursor, false);
      else {
        this.goTo(store.tree.parentOf(this.cursor));
        this.choose(false);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(false);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** j and k step through events, n and N through findings, wherever the focus is, except in a field. */
  private globalKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !["j", "k", "n", "N"].includes(event.key)) return;
    const focus = event.composedPath()[0];
    if (focus instanceof HTMLElement && focus.matches("input:not([type=checkbox]), select, textarea")) return;
    event.preventDefault();
    if (event.key === "n" || event.key === "N") {
      const next = store.tree.nextFinding(selection.address, event.key === "n" ? 1 : -1);
      if (next) selection.select(next);
      return;
    }
    void this.stepEvent(event.key === "j" ? 1 : -1, event.repeat);
  }

  private async stepEvent(step: 1 | -1, repeat: boolean): Promise<void> {
    const tree = store.tree;
    let next = tree.nextEvent(this.cursor, step);
    const folded = tree.nextFolded(this.cursor, step);
    if (folded >= 0 && (next < 0 || (step > 0 ? folded < next : folded > next))) {
      // The next event is in a frame that is still folded.
      const number = tree.setOpen(folded, true);
      if (number !== null) await store.need(number);
      const end = step > 0 ? folded : this.endOfFrame(folded);
      next = tree.nextEvent(end, step);
    }
    if (next < 0) return;
    this.goTo(next);
    this.choose(repeat);
  }

  /** The row after the last one of the frame at a row. */
  private endOfFrame(row: number): number {
    let next = row + 1;
    while (next < store.tree.count && store.tree.row(next)!.level > 1) next += 1;
    return next;
  }

  private fold(index: number, open: boolean): void {
    const number = store.tree.setOpen(index, open);
    this.goTo(index);
    if (number !== null) void store.need(number);
  }

  private goTo(index: number): void {
    if (index < 0) {
      this.requestUpdate();
      return;
    }
    this.cursor = index;
    this.requestUpdate();
    void this.updateComplete.then(() => this.list.rows.show(index));
  }

  private choose(repeat: boolean): void {
    clearTimeout(this.resting);
    const address = store.tree.row(this.cursor)?.address;
    if (!address) return;
    if (repeat) this.resting = setTimeout(() => selection.select(address), REST_MS);
    else selection.select(address);
  }
}

customElements.define("pg-events", EventsPanel);
