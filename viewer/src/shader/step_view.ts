// What one step does: what it reads and where that comes from, what it writes, its accesses, and all registers.

import { html, nothing, type TemplateResult } from "lit";
import { linked } from "../shared/panel";
import type { StepAnswer, Value } from "./api";
import { shownAs, type Cell, type Format, type RegisterLine } from "./registers";

export type Go = (step: number) => void;

/** Lanes of a mask, "0x0000000f" to 4. */
export function lanesOf(mask: string): number {
  let count = 0;
  for (let bits = Number(mask); bits > 0; bits = Math.floor(bits / 2)) count += bits % 2;
  return count;
}

function origin(written: number | null | undefined, go: Go): TemplateResult | typeof nothing {
  if (written === null || written === undefined) return nothing;
  return html`<button class="origin" title="Written by step ${written}: go there" @click=${() => go(written)}>
    ← ${written}
  </button>`;
}

function value(one: Value, format: Format): string {
  return shownAs(one.word, one.shown, format);
}

/** The step in a table: a row for each value that it reads or writes. */
export function stepView(answer: StepAnswer, format: Format, go: Go): TemplateResult {
  if (answer.number === undefined) {
    return html`<div class="facts"><p class="note">The end: these are the registers after the last step.</p></div>`;
  }
  const facts = [
    answer.flow,
    answer.skipped ? "skipped: its guard is false" : "",
    answer.lanes ? `${lanesOf(answer.lanes)} lanes of the warp` : "",
    answer.line === null || answer.line === undefined ? "" : `line ${answer.line}`,
  ].filter(Boolean);
  return html`<div class="facts mono" role="region" aria-label="This step" tabindex="0">
    <div class="instruction">${answer.address}  ${answer.text}</div>
    ${facts.length ? html`<div class="dim">${facts.join(" · ")}</div>` : nothing}
    ${answer.births?.map((birth) => html`<div class="bad">${birth.text}</div>`)}
    ${answer.notes?.map((note) => html`<div class="bad">${note}</div>`)}
    <table aria-label="Values of this step">
      ${answer.reads?.map(
        (one) => html`<tr>
          <th scope="row" class="dim">reads</th>
          <td>${one.register}</td>
          <td title="${one.kind} ${one.word}">${value(one, format)}</td>
          <td>${origin(one.written, go)}</td>
        </tr>`,
      )}
      ${answer.writes?.map(
        ({ before, after }) => html`<tr>
          <th scope="row" class="dim">writes</th>
          <td>${after.register}</td>
          <td title="${after.kind} ${after.word}">
            <span class="old">${value(before, format)}</span> → <span class="new">${value(after, format)}</span>
          </td>
          <td></td>
        </tr>`,
      )}
      ${answer.accesses?.map(
        ({ text }) => html`<tr><th scope="row" class="dim">memory</th><td colspan="3">${linked(text)}</td></tr>`,
      )}
      ${answer.emitted
        ? html`<tr><th scope="row" class="dim">emits</th><td colspan="3">${answer.emitted}</td></tr>`
        : nothing}
    </table>
  </div>`;
}

function cell(one: Cell, go: Go): TemplateResult {
  const where = one.written === null ? "its first value" : `written by step ${one.written}: go there`;
  const shown = html`<span class=${one.after === null ? "" : "old"}>${one.before}</span>${one.after === null
      ? nothing
      : html`<span class="new">→ ${one.after}</span>`}`;
  const name = `${one.name}: ${where}`;
  return html`<td class=${one.after === null ? "" : "changed"}>
    ${one.written === null
      ? html`<span class="value" title=${name}>${shown}</span>`
      : html`<button class="value" title=${name} @click=${() => go(one.written!)}>${shown}</button>`}
  </td>`;
}

/** The registers: a row for each, with its components beside each other. */
export function registersView(lines: RegisterLine[], go: Go): TemplateResult {
  return html`<table class="registers" aria-label="Registers before this step">
    ${lines.map(
      (line) => html`<tr class=${line.changed ? "written" : ""}>
        <th scope="row">${line.name}</th>
        ${line.cells.map((one) => cell(one, go))}
      </tr>`,
    )}
  </table>`;
}
