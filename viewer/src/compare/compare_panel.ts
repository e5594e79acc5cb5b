// The panel of two captures: aligned events, where each level differs first, pictures, registers and reasons of both.

import { css, html, nothing, type TemplateResult } from "lit";
import { store } from "../events/store";
import { findAddresses, parseAddress, placeOfText, toFragment } from "../shared/address";
import { askJson, calm, type WhyAnswer } from "../shared/api";
import { checkBox } from "../shared/check_box";
import { Latest } from "../shared/latest";
import { Panel, linked } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { RowsList } from "../shared/rows_list";
import { selection } from "../shared/selection";
import { factsTableStyles, panelStyles } from "../shared/styles";
import { changesHead, changesStyles, changesTable } from "../state/changes_view";
import { rowsOf, type StateRow } from "../state/rows";
import { Alignment, type Aligned } from "./alignment";
import type { AlignedAnswer, Difference, DifferencesAnswer, RegistersAnswer, UnlikeAnswer, Verdict } from "./api";
import "./pictures_view";
import { OTHER, sides } from "./sides";
import { compareStyles } from "./styles";

type Tab = "differences" | "registers" | "why";
const TABS: [Tab, string, string][] = [
  ["differences", "First differences", "where each level differs first in this frame"],
  ["registers", "Registers", "registers that differ after the selected event"],
  ["why", "Why", "the reasons in A and in B"],
];
const MARKS: Record<Verdict, [string, string]> = {
  equal: ["=", "nothing differs"],
  commands: ["≠", "command words, memory or registers differ from here on"],
  state: ["~", "registers differ, from an earlier event on"],
  "only a": ["A", "only in A"],
  "only b": ["B", "only in B"],
};
/** Levels whose first difference takes the machine long to find. */
const SLOW = ["vertex", "pixel", "picture"];
const LEVELS = ["events", "memory", "command", "register", ...SLOW];

export class ComparePanel extends Panel {
  static override styles = [panelStyles, factsTableStyles, changesStyles, css`:host { container-type: inline-size; }`, compareStyles];

  private readonly list = new RowsList(this, ".events");
  private readonly registersList = new RowsList(this, ".registers");
  private readonly deep = new Latest(() => this.requestUpdate());
  private readonly search = new Latest(() => this.requestUpdate());
  private readonly detail = new Latest(() => this.requestUpdate());
  private readonly reasons = [new Latest(() => this.requestUpdate()), new Latest(() => this.requestUpdate())] as const;
  private alignment: Alignment | null = null;
  private answer: AlignedAnswer | null = null;
  private found: DifferencesAnswer | null = null;
  private registers: RegistersAnswer | null = null;
  private registerRows: StateRow[] = [];
  private why: [WhyAnswer | null, WhyAnswer | null] = [null, null];
  private only = false;
  private tab: Tab = "differences";
  /** A row that only B has: no address of A selects it. It lasts until something else is selected. */
  private pinned = -1;
  /** What the tabs were asked about. */
  private told: Record<Tab, string> = { differences: "", registers: "", why: "" };
  private version = -1;
  private note = "";
  private readonly onSides = (): void => this.changed();

  override connectedCallback(): void {
    super.connectedCallback();
    sides.addEventListener("change", this.onSides);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    sides.removeEventListener("change", this.onSides);
    this.told = { differences: "", registers: "", why: "" };
    for (const latest of [this.deep, this.search, this.detail, ...this.reasons]) latest.stop();
  }

  private changed(): void {
    this.asked = "";
    if (sides.other) this.selected();
  }

  protected selected(): void {
    const frame = parseAddress(selection.address)?.frame;
    if (frame === undefined || !sides.other) return;
    this.pinned = -1;
    this.note = "";
    if (`${frame} ${sides.version}` !== this.asked) {
      this.asked = `${frame} ${sides.version}`;
      if (sides.version !== this.version) this.told = { differences: "", registers: "", why: "" };
      this.version = sides.version;
      this.alignment = this.answer = this.found = null;
      void this.latest.ask(
        async (signal) => {
          await calm();
          signal.throwIfAborted();
          return askJson<AlignedAnswer>("/api/aligned", "compare", { frame }, signal);
        },
        (answer) => {
          this.answer = answer;
          this.alignment = new Alignment(answer);
          this.place();
        },
      );
    } else this.place();
  }

  /** Show the row of the selection, and ask what the tab in front needs. */
  private place(): void {
    this.requestUpdate();
    const row = this.row;
    void this.updateComplete.then(() => {
      const at = this.only ? (this.alignment?.differing.indexOf(row) ?? -1) : row;
      if (at >= 0) this.list.rows.show(at);
      this.ask();
    });
  }

  /** The row of the selection; -1 for frames and passes. */
  private get row(): number {
    if (this.pinned >= 0) return this.pinned;
    return this.alignment?.rowOf(this.inA) ?? -1;
  }

  /** The address of A that is shown. A pass counts as its last event. */
  private get inA(): string {
    const parsed = parseAddress(selection.address);
    if (parsed?.pass === undefined) return selection.address;
    return store.tree.lastOf(selection.address) ?? selection.address;
  }

  /** The places that are shown in A and B; "" where a side has none. */
  private get places(): [string, string] {
    if (!this.alignment) return ["", ""];
    const pinned = this.alignment.rows[this.pinned];
    if (pinned) return ["", pinned.b ?? ""];
    const a = placeOfText(this.inA);
    return [a, placeOfText(this.alignment.counterpart(a) ?? "")];
  }

  private ask(): void {
    const [a, b] = this.places;
    const what = `${a} ${b}`;
    if (this.tab === "registers" && a && b && this.told.registers !== what) {
      this.told.registers = what;
      this.registers = null;
      this.registerRows = [];
      void this.detail.ask(
        (signal) => askJson<RegistersAnswer>("/api/unlike_registers", "compare-registers", { a, b }, signal),
        (answer) => {
          this.registers = answer;
          this.registerRows = rowsOf(answer.changes, "");
        },
      );
    }
    if (this.tab === "why" && this.told.why !== selection.address + what) {
      this.told.why = selection.address + what;
      this.why = [null, null];
      const other = this.pinned >= 0 ? b : (this.alignment?.counterpart(this.inA) ?? "");
      this.explain(0, this.pinned >= 0 ? "" : this.inA, "a");
      this.explain(1, other, OTHER);
    }
  }

  private explain(index: 0 | 1, at: string, side: string): void {
    if (!at) {
      this.reasons[index].stop();
      return;
    }
    void this.reasons[index].ask(
      async (signal) => {
        await calm();
        signal.throwIfAborted();
        return askJson<WhyAnswer>("/api/why", `compare-why-${side}`, { at, side }, signal);
      },
      (answer) => (this.why[index] = answer),
    );
  }

  // -- what is shown -----------------------------------------------------------------------------------------------
  protected override render(): TemplateResult {
    const alignment = this.alignment;
    const [a, b] = this.places;
    return html`
      <div class="bar">
        <span class="names mono"
          ><strong>A</strong> <span title=${sides.main?.title ?? ""}>${sides.main?.title ?? ""}</span>
          <strong>B</strong> <span title=${sides.other?.title ?? ""}>${sides.other?.title ?? ""}</span></span
        >
        ${checkBox("differing only", this.only, (on) => this.setOnly(on))}
        <button title="Previous event that differs (D)" ?disabled=${!alignment?.differing.length} @click=${() => this.step(-1)}>
          ◂ difference
        </button>
        <button title="Next event that differs (d)" ?disabled=${!alignment?.differing.length} @click=${() => this.step(1)}>
          difference ▸
        </button>
        <button title="The next frame in which commands, state or the picture differ" @click=${() => this.nextFrame()}>
          next frame ▸
        </button>
      </div>
      ${this.working(this.deep, this.search, this.detail, ...this.reasons)}
      ${this.problem(this.latest.error ?? this.search.error)}
      ${this.note ? html`<div class="note" role="status">${linked(this.note)}</div>` : nothing}
      <div class="halves">
        <div class="left">
          <div class="count dim mono">${this.counts()}</div>
          <div
            class="scroll events"
            tabindex="0"
            role="listbox"
            aria-label="Aligned events"
            aria-activedescendant=${this.row >= 0 ? `row-${this.row}` : nothing}
            @keydown=${(event: KeyboardEvent) => this.key(event)}
          >
            ${alignment
              ? this.list.render(this.only ? alignment.differing.length : alignment.rows.length, (index) =>
                  this.event(this.only ? alignment.differing[index]! : index),
                )
              : nothing}
          </div>
        </div>
        <div class="right">
          <pg-compare-pictures .a=${a} .b=${b} .version=${this.version}></pg-compare-pictures>
          <div class="bar">
            <span class="group" role="radiogroup" aria-label="Comparison" @keydown=${radioKey}>
              ${TABS.map(([tab, text, title]) => radio(text, tab === this.tab, () => this.setTab(tab), title))}
            </span>
            <span class="mono dim places">${this.where(a, b)}</span>
          </div>
          ${this.tab === "registers" ? this.registersTab(a, b) : html`<div class="scroll tab" tabindex="0" role="region" aria-label=${TABS.find(([tab]) => tab === this.tab)![1]}>
                ${this.tab === "why" ? this.whyTab() : this.differencesTab()}
              </div>`}
        </div>
      </div>
    `;
  }

  private where(a: string, b: string): string {
    if (!this.alignment) return "";
    return a === b ? a : `A ${a || "–"}  B ${b || "–"}`;
  }

  private counts(): string {
    const { alignment, answer } = this;
    if (!alignment || !answer) return " ";
    const left = answer.left_out.rows ? `, ${answer.left_out.rows.toLocaleString("en")} more are left out` : "";
    const count = alignment.rows.length.toLocaleString("en");
    return `f${alignment.frame}: ${alignment.differing.length.toLocaleString("en")} of ${count} events differ${left}`;
  }

  private event(index: number): TemplateResult | typeof nothing {
    const row = this.alignment?.rows[index];
    if (!row) return nothing;
    const chosen = index === this.row;
    const [mark, meaning] = MARKS[row.verdict];
    const place = row.a === row.b ? row.a : `${row.a ?? "–"} | ${row.b ?? "–"}`;
    return html`<div
      id=${`row-${index}`}
      class=${`row is-${row.verdict.replace(" ", "-")}${chosen ? " chosen" : ""}`}
      role="option"
      aria-selected=${chosen}
      aria-label=${`${place}: ${row.title}, ${meaning}`}
      title=${row.other ? `A: ${row.title}\nB: ${row.other}` : `${row.title}\n${meaning}`}
      @click=${() => this.choose(index)}
    ><span class="mark">${mark}</span><span class="place">${place}</span><span class="title">${row.title}${
        row.other ? html` <span class="dim">B: ${row.other}</span>` : nothing
      }</span></div>`;
  }

  private differencesTab(): TemplateResult | typeof nothing {
    const { answer } = this;
    if (!answer) return nothing;
    const first = (level: string): Difference | null =>
      SLOW.includes(level)
        ? (this.found?.levels.find(({ name }) => name === level)?.first ?? null)
        : (answer.differences.find((one) => one.level === level) ?? null);
    const open = !this.found && this.deep.state === "idle";
    return html`
      <table>
        ${LEVELS.map((level) => {
          const one = first(level);
          const unknown = SLOW.includes(level) && !this.found;
          const text = unknown ? "not looked for" : one ? html`${one.text} ${this.link(one)}` : "no difference";
          return html`<tr class=${one ? "differs" : "dim"}><th scope="row">${level}</th><td class="mono">${text}</td></tr>`;
        })}
      </table>
      ${this.problem(this.deep.error)} ${this.found?.notes.map((note) => html`<p class="note">${linked(note)}</p>`)}
      ${open
        ? html`<p class="note"><button @click=${() => this.lookFor()}>Look for vertices and pixels</button> Both captures play
            this frame several times.</p>`
        : nothing}
      ${answer.differences.length > 1
        ? html`<h3>All differences of commands and state</h3>
            <ul class="mono">
              ${answer.differences.map((one) => html`<li>${one.text} ${this.link(one)}</li>`)}
            </ul>
            ${answer.left_out.differences ? html`<p class="note">${answer.left_out.differences} more are left out.</p>` : nothing}`
        : nothing}
    `;
  }

  /** A link to the place of a difference: in A, or to the row that only B has. */
  private link({ a, b }: Difference): TemplateResult | typeof nothing {
    if (a) return html`<a href=${toFragment(a)}>${a}</a>${b && b !== a ? html` <span class="dim">B ${b}</span>` : nothing}`;
    const row = this.alignment?.rows.findIndex((one) => one.b === b && one.a === null) ?? -1;
    if (row < 0) return html`<span class="dim">B ${b}</span>`;
    return html`<a href="#" role="button" @click=${(event: Event) => this.pin(event, row)}>B ${b}</a>`;
  }

  private registersTab(a: string, b: string): TemplateResult {
    const rows = this.registerRows;
    const none = !a || !b ? "Only one side has this event." : this.registers ? "No register differs." : "";
    return html`${changesHead("A", "B")} ${this.problem(this.detail.error)} ${changesTable(this.registersList, rows, none)}
      ${this.registers?.left_out ? html`<div class="note">${this.registers.left_out} more are left out.</div>` : nothing}`;
  }

  private whyTab(): TemplateResult {
    return html`<div class="whys">${[0, 1].map((index) => this.reason(index as 0 | 1))}</div>`;
  }

  private reason(index: 0 | 1): TemplateResult {
    const answer = this.why[index];
    const latest = this.reasons[index];
    // Addresses of B are none of A: they lead nowhere here.
    const text = (line: string): unknown => (index ? findAddresses(line).map((piece) => piece.text) : linked(line));
    return html`<section aria-label=${index ? "Why in B" : "Why in A"} aria-busy=${latest.state !== "idle"}>
      <h3>${index ? "B" : "A"} <span class="mono dim">${answer?.address ?? ""}</span></h3>
      ${latest.error ? html`<p class="note">${latest.error.message}</p>` : nothing}
      ${answer?.because ? html`<p class="because">${text(answer.because)}</p>` : nothing}
      ${answer ? html`<pre class="mono">${text(answer.text ?? "")}</pre>` : nothing}
      ${!answer && latest.state === "idle" && !latest.error ? html`<p class="note">${index ? "B" : "A"} has no such event.</p>` : nothing}
    </section>`;
  }

  // -- what is done ------------------------------------------------------------------------------------------------
  private choose(index: number): void {
    const row: Aligned | undefined = this.alignment?.rows[index];
    if (!row) return;
    if (row.a) {
      this.pinned = -1;
      if (selection.address === row.a) this.place();
      else selection.select(row.a);
    } else {
      this.pinned = index;
      this.place();
    }
  }

  private pin(event: Event, row: number): void {
    event.preventDefault();
    this.choose(row);
  }

  private step(step: 1 | -1): void {
    const { alignment } = this;
    if (!alignment) return;
    const from = this.row >= 0 ? this.row : step > 0 ? -1 : alignment.rows.length;
    const next = alignment.next(from, step);
    if (next >= 0) this.choose(next);
  }

  private key(event: KeyboardEvent): void {
    const { alignment } = this;
    if (!alignment || event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = this.only ? alignment.differing : null;
    const count = shown ? shown.length : alignment.rows.length;
    const at = shown ? shown.indexOf(this.row) : this.row;
    const page = this.list.rows.page;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (to !== undefined && count) {
      const row = Math.min(Math.max(to, 0), count - 1);
      this.choose(shown ? shown[row]! : row);
    } else if (event.key === "d" || event.key === "D") this.step(event.key === "d" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private setOnly(only: boolean): void {
    this.only = only;
    this.place();
  }

  private setTab(tab: Tab): void {
    this.tab = tab;
    this.requestUpdate();
    void this.updateComplete.then(() => this.ask());
  }

  private lookFor(): void {
    const frame = this.alignment?.frame;
    if (frame === undefined) return;
    void this.deep.ask(
      (signal) => askJson<DifferencesAnswer>("/api/differences", "compare-differences", { frame }, signal),
      (answer) => {
        if (answer.frame === this.alignment?.frame) this.found = answer;
      },
    );
  }

  /** Go to the next frame that differs: a few frames a request, so that other panels get their answers. */
  private nextFrame(): void {
    const from = (parseAddress(selection.address)?.frame ?? -1) + 1;
    this.note = "";
    void this.search.ask(
      async (signal) => {
        for (let next: number | null = from; next !== null; ) {
          const answer: UnlikeAnswer = await askJson("/api/unlike", "compare-search", { from: next }, signal);
          if (answer.frame !== null) return answer.frame;
          next = answer.next;
          this.note = next === null ? "" : `looking at f${next}`;
          this.requestUpdate();
        }
        return null;
      },
      (frame) => {
        if (frame === null) this.note = from ? `No frame after f${from - 1} differs.` : "No frame differs.";
        else selection.select(`f${frame}`);
      },
    );
  }
}

customElements.define("pg-compare", ComparePanel);
