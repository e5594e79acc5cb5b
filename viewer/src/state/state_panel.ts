// The panel of state: what is set at the selection in short, and which registers differ from an earlier place.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import { askJson, type StateAnswer } from "../shared/api";
import { Panel, linked } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { Latest } from "../shared/latest";
import "./flow_view";
import type { FlowStage } from "./flow";
import { rowsOf, type StateRow } from "./rows";

export class StatePanel extends Panel {
  static override styles = [
    panelStyles,
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
      table {
        border-collapse: collapse;
        width: 100%;
      }
      th,
      td {
        text-align: left;
        vertical-align: top;
        padding: 1px 8px;
        line-height: 18px;
        overflow-wrap: anywhere;
      }
      th {
        font-weight: 400;
        color: var(--dim);
        white-space: nowrap;
        width: 1%;
      }
      tr:nth-child(even) {
        background: var(--stripe);
      }
      .head,
      .row {
        display: grid;
        grid-template-columns: minmax(18ch, 34ch) minmax(12ch, 1fr) minmax(12ch, 1fr);
        gap: 8px;
      }
      .rows {
        width: 100%;
      }
      .head {
        padding: 2px 8px;
        color: var(--dim);
        border-bottom: 1px solid var(--line);
        background: var(--raised);
        flex: none;
      }
      .row > span {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .register {
        color: var(--strong);
        background: var(--stripe);
      }
      .field > span:first-child {
        padding-left: 2ch;
        color: var(--dim);
      }
      .old {
        color: var(--old);
      }
      .new {
        color: var(--new);
      }
      .since {
        width: 12ch;
      }
    `,
  ];

  private readonly list = new RowsList(this);
  private answer: StateAnswer | null = null;
  private rows: StateRow[] = [];
  private filter = "";
  private mode: "previous" | "reset" | "address" = "previous";
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
      (signal) => askJson<{ stages: FlowStage[] }>("/api/flow", "flow", { at }, signal),
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
        <label title="Also stages that pass their input on"
          ><input
            type="checkbox"
            .checked=${this.allStages}
            @change=${(event: Event) => {
              this.allStages = (event.target as HTMLInputElement).checked;
              this.requestUpdate();
            }}
          />all stages</label
        >
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

  private ask(): void {
    const at = placeOfText(selection.address);
    const since = this.mode === "address" ? this.since.trim() : this.mode;
    if (!at || !since || `${at} ${since}` === this.asked) return;
    this.asked = `${at} ${since}`;
    void this.latest.ask(
      (signal) => askJson<StateAnswer>("/api/state", "state", { at, since }, signal),
      (answer) => {
        this.answer = answer;
        this.rows = rowsOf(answer.changes, this.filter);
      },
    );
  }

  protected override render(): TemplateResult {
    if (this.view === "flow") return this.flowView();
    const answer = this.latest.error ? null : this.answer;
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
        <span class="dim mono">${answer ? `${answer.changes.length} changed` : ""}</span>
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      ${answer?.summary.length
        ? html`<div class="summary mono" tabindex="0" role="region" aria-label="Summary of the state">
            <table>
              ${answer.summary.map(({ name, text }) => html`<tr><th scope="row">${name}</th><td>${linked(text)}</td></tr>`)}
            </table>
          </div>`
        : nothing}
      ${answer?.missing ? html`<div class="note">${linked(answer.missing)}</div>` : nothing}
      <div class="head mono" aria-hidden="true"><span>register</span><span>before</span><span>now</span></div>
      <div class="scroll" tabindex="0" role="table" aria-label="Registers that differ" aria-rowcount=${this.rows.length}>
        ${answer && !this.rows.length
          ? html`<div class="note">${this.filter ? "No register fits the filter." : "No register differs."}</div>`
          : nothing}
        ${this.list.render(answer ? this.rows.length : 0, (index) => this.row(index))}
      </div>
    `;
  }

  private row(index: number): TemplateResult | typeof nothing {
    const row = this.rows[index];
    if (!row) return nothing;
    return html`<div class=${row.field ? "row field" : "row register"} role="row" aria-rowindex=${index + 1}>
      <span role="rowheader" title=${row.name}>${row.name}</span>
      <span class="old" role="cell" title=${row.old}>${row.old}</span>
      <span class="new" role="cell" title=${row.new}>${row.new}</span>
    </div>`;
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
