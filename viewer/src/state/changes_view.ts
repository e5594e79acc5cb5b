// Registers that differ as a table of three columns: the register or field, and its values on both sides.

import { css, html, nothing, type TemplateResult } from "lit";
import type { RowsList } from "../shared/rows_list";
import type { StateRow } from "./rows";

/** `--name-column` and `--value-column` are the narrowest widths; panels can set them. */
export const changesStyles = css`
  .head,
  .row.change {
    display: grid;
    grid-template-columns:
      minmax(var(--name-column, 18ch), calc(var(--name-column, 18ch) + 16ch))
      repeat(2, minmax(var(--value-column, 12ch), 1fr));
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
  .row.change > span {
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
  .same .old,
  .same .new {
    color: var(--dim);
  }
  .register a {
    color: inherit;
  }
  .register a:hover,
  .register a:focus-visible {
    color: var(--link);
    text-decoration: underline;
  }
`;

export function changesHead(before: string, now: string): TemplateResult {
  return html`<div class="head mono" aria-hidden="true"><span>register</span><span>${before}</span><span>${now}</span></div>`;
}

/** Where the name of a register leads, and what is done instead of going there. */
export interface Leads {
  href: string;
  follow: (register: string) => void;
}

/** note: what is shown in place of rows if there are none. leads: names of registers are links. */
export function changesTable(list: RowsList, rows: readonly StateRow[], note: string, leads?: Leads): TemplateResult {
  return html`<div class="scroll registers" tabindex="0" role="table" aria-label="Registers" aria-rowcount=${rows.length}>
    ${!rows.length && note ? html`<div class="note">${note}</div>` : nothing}
    ${list.render(rows.length, (index) => changeRow(rows[index], index, leads))}
  </div>`;
}

function changeRow(row: StateRow | undefined, index: number, leads?: Leads): TemplateResult | typeof nothing {
  if (!row) return nothing;
  const classes = `row change ${row.field ? "field" : "register"}${row.old === row.new ? " same" : ""}`;
  // Words of uniforms, programs and tables are no registers: they are named by the memory that they are in.
  const link = leads && !row.field && !row.name.includes(" ");
  return html`<div class=${classes} role="row" aria-rowindex=${index + 1}>
    <span role="rowheader" title=${row.name}
      >${link
        ? html`<a href=${leads.href} title=${`${row.name}: the word that set it`} @click=${(event: Event) => lead(event, row.name, leads)}>${row.name}</a>`
        : row.name}</span
    >
    <span class="old" role="cell" title=${row.old}>${row.old}</span>
    <span class="new" role="cell" title=${row.new}>${row.new}</span>
  </div>`;
}

function lead(event: Event, register: string, leads: Leads): void {
  event.preventDefault();
  leads.follow(register);
}
