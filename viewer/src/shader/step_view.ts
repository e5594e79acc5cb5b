// What one step does: what it reads and where that comes from, what it writes, its accesses, and all registers.

import { html, nothing, type TemplateResult } from "lit";
import { linked } from "../shared/panel";
import type { StepAnswer, Value } from "./api";
import { groupsOf, shownAs, type Cell, type Format, type RegisterLine } from "./registers";

export type Go = (step: number) => void;

/** Lanes of a mask, "0x0000000f" to 4. */
export function lanesOf(mask: string): number {
  let count = 0;
  for (let bits = Number(mask); bits > 0; bits = Math.floor(bits / 2)) count += bits % 2;
  return count;
}

/** Links to the steps that values come from, each once. */
function origins(values: readonly Value[], go: Go): TemplateResult[] {
  const steps = new Set(values.flatMap(({ written }) => (written === null || written === undefined ? [] : [written])));
  return [...steps].map(
    (step) =>
      html`<button class="origin" title="Written by step ${step}: go there" @click=${() => go(step)}>← ${step}</button>`,
  );
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
      ${groupsOf(answer.reads ?? [], (one) => one.register).map(
        ({ name, values }) => html`<tr>
          <th scope="row" class="dim">reads</th>
          <td>${name}</td>
          <td>${values.map((one) => html`<span class="number-of" title="${one.kind} ${one.word}">${value(one, format)}</span>`)}</td>
          <td>${origins(values, go)}</td>
        </tr>`,
      )}
      ${groupsOf(answer.writes ?? [], (one) => one.after.register).map(
        ({ name, values }) => html`<tr>
          <th scope="row" class="dim">writes</th>
          <td>${name}</td>
          <td colspan="2">
            ${values.map(({ before }) => html`<span class="number-of old">${value(before, format)}</span>`)}→
            ${values.map(({ after }) => html`<span class="number-of new" title="${after.kind} ${after.word}">${value(after, format)}</span>`)}
          </td>
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

/** A register's value; a click on it leads to the step that wrote it. */
function cell(one: Cell, go: Go): TemplateResult {
  const where = one.written === null ? "its first value" : `written by step ${one.written}: go there`;
  const shown = html`<span class=${one.after === null ? "" : "old"}>${one.before}</span>${one.after === null
      ? nothing
      : html`<span class="new">→ ${one.after}</span>`}`;
  const title = `${one.name}: ${where}`;
  return one.written === null
    ? html`<span class="value" title=${title}>${shown}</span>`
    : html`<button class="value" title=${title} aria-label="${one.before}, ${title}" @click=${() => go(one.written!)}>${shown}</button>`;
}

/** The registers: vectors with their components beside each other, then the others in as many columns as fit. */
export function registersView(lines: RegisterLine[], go: Go): TemplateResult {
  const vectors = lines.filter((line) => line.cells[0]!.part);
  const others = lines.filter((line) => !line.cells[0]!.part);
  return html`
    ${vectors.length
      ? html`<table class="registers" aria-label="Vectors before this step">
          ${vectors.map(
            (line) => html`<tr class=${line.changed ? "written" : ""}>
              <th scope="row">${line.name}</th>
              ${line.cells.map((one) => html`<td class=${one.after === null ? "" : "changed"}>${cell(one, go)}</td>`)}
            </tr>`,
          )}
        </table>`
      : nothing}
    <div class="scalars" role="list" aria-label="Registers before this step">
      ${others.map(
        (line) => html`<div role="listitem" class=${line.changed ? "written changed" : ""}>
          <span class="name">${line.name}</span>${cell(line.cells[0]!, go)}
        </div>`,
      )}
    </div>
  `;
}
