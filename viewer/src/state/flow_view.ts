// How the selected draw makes its colours: its stages from top to bottom, each with what it reads and what comes out.
// For a pixel of the draw with the values that it had.

import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import { toFragment } from "../shared/address";
import { linked } from "../shared/panel";
import { showPanel } from "../shared/show_panel";
import { panelStyles } from "../shared/styles";
import { madeBy, reads, shownStages, type FlowPart, type FlowStage, type FlowValue } from "./flow";

export class DrawFlow extends LitElement {
  static override properties = { stages: { attribute: false }, all: { type: Boolean } };
  static override styles = [
    panelStyles,
    css`
      .scroll {
        contain: content;
        padding: 8px 10px;
      }
      .stage {
        border: 1px solid var(--edge);
        border-radius: 4px;
        background: var(--raised);
        margin-left: 16px;
      }
      .stage.idle {
        opacity: 0.7;
      }
      .stage:focus-visible,
      .stage.found {
        outline: 2px solid var(--accent);
      }
      .gap {
        height: 12px;
      }
      .arrow {
        margin-left: 34px;
        border-left: 2px solid var(--edge);
      }
      h3 {
        display: flex;
        gap: 8px;
        align-items: center;
        margin: 0;
        padding: 2px 8px;
        font: var(--font);
        font-weight: 600;
        color: var(--strong);
      }
      h3 .out {
        margin-left: auto;
        font: var(--mono);
      }
      table {
        border-collapse: collapse;
        width: 100%;
        background: var(--ground);
        border-radius: 0 0 4px 4px;
      }
      td,
      th {
        text-align: left;
        font-weight: 400;
        vertical-align: top;
        padding: 1px 8px;
        line-height: 18px;
        overflow-wrap: anywhere;
      }
      tr.part > * {
        border-top: 1px solid var(--line);
      }
      tr.part > th,
      tr.part > td:first-child {
        color: var(--strong);
      }
      .value {
        white-space: nowrap;
      }
      .notes {
        padding: 0 8px 2px;
        color: var(--dim);
        overflow-wrap: anywhere;
      }
      svg {
        vertical-align: -1px;
        margin-right: 5px;
      }
      button.from {
        height: auto;
        padding: 0;
        border: none;
        background: transparent;
        color: var(--link);
      }
      button.from:hover:enabled {
        background: transparent;
        text-decoration: underline;
      }
    `,
  ];

  declare stages: FlowStage[];
  declare all: boolean;
  private found = "";

  constructor() {
    super();
    this.stages = [];
    this.all = false;
  }

  protected override render(): TemplateResult {
    const shown = shownStages(this.stages, this.all);
    return html`<div class="scroll" tabindex="0" role="list" aria-label="Stages of the draw">
      ${shown.map((stage, at) => html`${at ? this.gap(stage, shown[at - 1]!) : nothing}${this.stage(stage)}`)}
    </div>`;
  }

  /** A line from a stage to the next one, if that reads it. */
  private gap(stage: FlowStage, before: FlowStage): TemplateResult {
    const joined = reads(this.stages, stage, before, this.all);
    return html`<div class=${joined ? "gap arrow" : "gap"} role="presentation"></div>`;
  }

  private stage(stage: FlowStage): TemplateResult {
    const classes = ["stage", stage.idle ? "idle" : "", stage.name === this.found ? "found" : ""];
    return html`<div class=${classes.filter(Boolean).join(" ")} role="listitem" data-stage=${stage.name} tabindex="-1">
      <h3>
        ${stage.name}
        ${stage.program
          ? html`<a href=${toFragment(stage.program)} title="Step through it" @click=${() => showPanel("shader")}>step</a>`
          : nothing}
        ${stage.output ? html`<span class="out">${this.value(stage.output)}</span>` : nothing}
      </h3>
      ${stage.notes.map((note) => html`<div class="notes mono">${linked(note)}</div>`)}
      ${stage.parts.length
        ? html`<table class="mono">
            ${stage.parts.map((part) => this.operation(part))}
          </table>`
        : nothing}
    </div>`;
  }

  private operation(part: FlowPart): TemplateResult {
    return html`<tr class="part">
        <th scope="row">${part.name}</th>
        <td>${part.operation}${part.scale ? ` ${part.scale}` : ""}</td>
        <td class="value">${part.output ? html`= ${this.value(part.output)}` : nothing}</td>
      </tr>
      ${part.inputs.map(
        (input) => html`<tr>
          <td></td>
          <td>
            ${input.stage
              ? html`<button class="from" title="Show ${madeBy(this.stages, input.stage)}" @click=${() => this.find(input.stage)}>${input.name}</button>`
              : linked(input.name)}${input.operand ? html`<span class="dim"> ${input.operand}</span>` : nothing}
          </td>
          <td class="value">${input.value ? this.value(input.value) : nothing}</td>
        </tr>`,
      )}`;
  }

  /** A value with its colour before it. The page's security policy forbids styles in attributes; a fill is none. */
  private value(value: FlowValue): TemplateResult {
    const swatch = value.color
      ? html`<svg width="12" height="12" aria-hidden="true">${svg`<rect width="12" height="12" rx="2" fill=${value.color} stroke="currentColor" stroke-opacity="0.4"></rect>`}</svg>`
      : nothing;
    return html`${swatch}${value.text}`;
  }

  private find(name: string): void {
    const wanted = this.all ? name : madeBy(this.stages, name);
    this.found = wanted;
    this.requestUpdate();
    const card = [...this.renderRoot.querySelectorAll<HTMLElement>("[data-stage]")].find((one) => one.dataset["stage"] === wanted);
    card?.scrollIntoView({ block: "nearest" });
    card?.focus({ preventScroll: true });
  }
}

customElements.define("pg-draw-flow", DrawFlow);
