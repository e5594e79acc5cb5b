// The panel of state: what is set at the selection in short, and which registers differ from an earlier place.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText, toFragment } from "../shared/address";
import { askJson, type StateAnswer } from "../shared/api";
import { checkBox } from "../shared/check_box";
import { Latest } from "../shared/latest";
import { Panel, linked } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { factsTableStyles, panelStyles } from "../shared/styles";
import { changesHead, changesStyles, changesTable } from "./changes_view";
import "./flow_view";
import type { FlowStage } from "./flow";
import { store } from "../events/store";
import { leadToWord } from "../why/references";
import { rowsOf, type StateRow } from "./rows";

export class StatePanel extends Panel {
  static override styles = [
    panelStyles,
    factsTableStyles,
    changesStyles,
    css`
      pg-draw-flow {
        flex: 1 1 0;
        min-height: 0;
      }
      .summary {
        flex: 0 1 auto;
        max-height: 45%;
        overflow: auto;
        border-bottom: 1px solid var(--line);
      }
      .since {
        width: 12ch;
      }
    `,
  ];

  private readonly list = new RowsList(this);
  private answer: StateAnswer | null = null;
  /** What the answer compares with. */
  private answered = "";
  private rows: StateRow[] = [];
  private filter = "";
  private mode: "previous" | "reset" | "address" | "nothing" = "previous";
  private readonly word = new Latest(() => this.requestUpdate());
  /** Why a register leads nowhere. */
  private unwritten = "";
  private since = "";
  private view: "registers" | "flow" = "registers";
  private readonly flow = new Latest(() => this.requestUpdate());
  private flowAsked = "";
  private stages: FlowStage[] = [];
  private allStages = false;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.flow.state !== "idle") this.flowAsked = "";
    this.flow.stop();
    this.word.stop();
  }

  protected selected(): void {
    if (this.view === "flow") this.askFlow();
    else this.ask();
  }

  /** The stages of the selected draw; with values if one of its pixels is selected. */
  private askFlow(): void {
    const parsed = parseAddress(selection.run);
    if (!parsed) return;
    const place = placeOfText(selection.run);
    const at = parsed.pixel ? `${place}/px${parsed.pixel.join(",")}` : place;
    if (at === this.flowAsked) return;
    this.flowAsked = at;
    if (parsed.draw === undefined && parsed.event === undefined) {
      this.flow.stop();
      this.stages = [];
      return;
    }
    void this.flow.ask(
      async (signal) =>
        (await store.isDraw(place)) === false
          ? { stages: [] }
          : askJson<{ stages: FlowStage[] }>("/api/flow", "flow", { at }, signal),
      (answer) => {
        this.stages = answer.stages;
      },
    );
  }

  private show(view: typeof this.view): void {
    this.view = view;
    this.selected();
    this.requestUpdate();
  }

  private views(): TemplateResult {
    return html`<span role="radiogroup" aria-label="View">
      ${(["registers", "flow"] as const).map(
        (view) => html`<button role="radio" aria-checked=${this.view === view} @click=${() => this.show(view)}>${
          view === "flow" ? "Flow" : "Registers"
        }</button>`,
      )}
    </span>`;
  }

  private flowView(): TemplateResult {
    const error = this.flow.error;
    const stages = error ? [] : this.stages;
    return html`
      <div class="bar">
        ${this.views()}
        ${checkBox("all stages", this.allStages, (on) => this.setAllStages(on), "Also stages that pass their input on")}
        <span class="dim grow mono">${this.flowAsked}</span>
      </div>
      ${this.working(this.flow)} ${this.problem(error)}
      ${stages.length
        ? html`<pg-draw-flow .stages=${stages} .all=${this.allStages}></pg-draw-flow>`
        : html`<div class="note scroll" tabindex="0">${
            error || this.flow.state !== "idle" ? "" : "Select a draw, or a pixel of its target, to see how its colours are made."
          }</div>`}
    `;
  }

  private setAllStages(all: boolean): void {
    this.allStages = all;
    this.requestUpdate();
  }

  private ask(): void {
    const at = placeOfText(selection.address);
    const since = this.mode === "address" ? this.since.trim() : this.mode;
    if (!at || !since || `${at} ${since}` === this.asked) return;
    this.asked = `${at} ${since}`;
    this.unwritten = "";
    // A question about a word goes on: its answer is what selects another place.
    if (this.word.state === "idle") this.word.error = null;
    void this.latest.ask(
      (signal) => askJson<StateAnswer>("/api/state", "state", { at, since }, signal),
      (answer) => {
        this.answer = answer;
        this.answered = since;
        this.rows = rowsOf(answer.changes, this.filter);
      },
    );
  }

  protected override render(): TemplateResult {
    if (this.view === "flow") return this.flowView();
    const answer = this.latest.error ? null : this.answer;
    const none = this.filter ? "No register fits the filter." : "No register differs.";
    return html`
      <div class="bar">
        ${this.views()}
        <label
          >since
          <select
            aria-label="Compare with"
            .value=${this.mode}
            @change=${(event: Event) => this.setMode((event.target as HTMLSelectElement).value as typeof this.mode)}
          >
            <option value="previous">previous draw</option>
            <option value="reset">reset</option>
            <option value="address">address</option>
            <option value="nothing">(all registers)</option>
          </select></label
        >
        ${this.mode === "address"
          ? html`<input
              class="since mono"
              type="text"
              placeholder="f0/d3"
              aria-label="Address to compare with"
              .value=${this.since}
              @change=${(event: Event) => this.setSince((event.target as HTMLInputElement).value)}
            />`
          : nothing}
        ${searchField("Filter registers", "Filter registers, fields and values", this.filter, (text) =>
          this.setFilter(text),
        )}
        <span class="dim mono">${answer ? `${answer.changes.length} ${this.answered === "nothing" ? "registers" : "changed"}` : ""}</span>
      </div>
      ${this.working(this.word)} ${this.problem(this.latest.error)} ${this.problem(this.word.error)}
      ${this.unwritten ? html`<div class="note" role="alert">${this.unwritten}</div>` : nothing}
      ${answer?.summary.length
        ? html`<div class="summary mono" tabindex="0" role="region" aria-label="Summary of the state">
            <table>
              ${answer.summary.map(({ name, text }) => html`<tr><th scope="row">${name}</th><td>${linked(text)}</td></tr>`)}
            </table>
          </div>`
        : nothing}
      ${answer?.missing ? html`<div class="note">${linked(answer.missing)}</div>` : nothing}
      ${changesHead(this.answered === "nothing" ? "at reset" : "before", "now")}
      ${changesTable(this.list, answer ? this.rows : [], answer ? none : "", {
        href: toFragment(selection.address),
        follow: (register) => this.follow(register),
      })}
    `;
  }

  /** Show the word that gave a register the value that it has here. */
  private follow(register: string): void {
    const at = placeOfText(selection.address);
    void this.word.ask(
      (signal) => leadToWord(this.session, { line: 0, at, register }, signal),
      (found) => {
        this.unwritten = found ? "" : `No word of the capture up to ${at} writes ${register}.`;
        if (found) this.openPanel("words");
      },
    );
  }

  private setMode(mode: typeof this.mode): void {
    this.mode = mode;
    this.requestUpdate();
    this.ask();
  }

  private setSince(since: string): void {
    this.since = since;
    this.ask();
  }

  private setFilter(filter: string): void {
    this.filter = filter;
    this.rows = rowsOf(this.answer?.changes ?? [], filter);
    this.requestUpdate();
  }
}

customElements.define("pg-state", StatePanel);
