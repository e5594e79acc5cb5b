// The panel of what-if: other choices, or a register with another value from an event on, shown beside the original.

import { css, html, nothing, type TemplateResult } from "lit";
import { sides } from "../compare/sides";
import { placeOfText } from "../shared/address";
import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";
import { Panel, linked } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { showPanel } from "../shared/show_panel";
import { panelStyles } from "../shared/styles";
import type { Choice, Forcible, ForcibleAnswer, ForcibleField, WhatIfAnswer } from "./api";
import { NOTHING, choiceIn, isNothing, read, same, withChoice, withForce, without, type Changes } from "./changes";

type Tab = "choices" | "registers";
/** Changes that were applied last, for a reload of the page: the server keeps B as well. */
const KEPT = "pocketgpu.whatif";
const TYPING_MS = 200;

export class WhatIfPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      .changes {
        list-style: none;
        margin: 0;
        padding: 4px 8px;
        border-bottom: 1px solid var(--line);
        max-height: 30%;
        overflow: auto;
        flex: none;
      }
      .changes li {
        display: flex;
        gap: 8px;
        align-items: center;
        overflow-wrap: anywhere;
      }
      .changes button {
        height: 18px;
        padding: 0 5px;
        line-height: 1;
      }
      .scroll {
        contain: content;
      }
      .choice,
      .register {
        padding: 4px 8px;
        border-bottom: 1px solid var(--line);
      }
      .choice > div:first-child,
      .field {
        display: flex;
        flex-wrap: wrap;
        gap: 4px 8px;
        align-items: center;
      }
      .name {
        color: var(--strong);
        overflow-wrap: anywhere;
      }
      .choice .name {
        flex: 1 1 16ch;
      }
      .changed .name {
        color: var(--new);
        font-weight: 600;
      }
      .doc {
        margin: 2px 0 0;
        color: var(--dim);
        overflow-wrap: anywhere;
      }
      details {
        color: var(--dim);
      }
      summary {
        cursor: default;
      }
      dl {
        margin: 0 0 4px 12px;
      }
      dt {
        color: var(--text);
      }
      dd {
        margin: 0 0 2px 2ch;
        overflow-wrap: anywhere;
      }
      .field {
        padding: 1px 0 1px 12px;
      }
      .field .name {
        flex: 0 0 18ch;
      }
      .field .now {
        flex: 1 1 12ch;
        color: var(--old);
        overflow-wrap: anywhere;
      }
      .field input,
      .field select {
        width: 18ch;
      }
      .from {
        width: 12ch;
      }
    `,
  ];

  private readonly finding = new Latest(() => this.requestUpdate());
  private readonly applying = new Latest(() => this.requestUpdate());
  private tab: Tab = "choices";
  private choices: Choice[] | null = null;
  private filter = "";
  private search = "";
  private found: ForcibleAnswer | null = null;
  private foundFor = "";
  private openRegister = "";
  private changes: Changes = read(sessionStorage.getItem(KEPT));
  private applied: Changes = NOTHING;
  /** Where a register begins to be forced; "" for the place of the selection. */
  private from = "";
  private typing: ReturnType<typeof setTimeout> | undefined;
  private readonly onSides = (): void => this.sidesChanged();

  override connectedCallback(): void {
    super.connectedCallback();
    sides.addEventListener("change", this.onSides);
    this.sidesChanged();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    sides.removeEventListener("change", this.onSides);
    clearTimeout(this.typing);
    this.finding.stop();
    this.applying.stop();
  }

  /** After a reload B may still lie on the desk: its title ends in the changes. */
  private sidesChanged(): void {
    const title = sides.other?.title ?? "";
    const all = [...this.changes.set, ...this.changes.force];
    if (isNothing(this.applied) && all.length && title.endsWith(all.join(" "))) this.applied = this.changes;
    this.requestUpdate();
  }

  protected selected(): void {
    if (this.choices === null && this.asked !== "choices") {
      this.asked = "choices";
      void this.latest.ask(
        (signal) => askJson<{ choices: Choice[] }>("/api/choices", "whatif-choices", {}, signal),
        (answer) => (this.choices = answer.choices),
      );
    }
    this.find();
    this.requestUpdate();
  }

  private get place(): string {
    return this.from.trim() || placeOfText(selection.address);
  }

  /** Look for registers, with their words at the selection. */
  private find(): void {
    const at = placeOfText(selection.address);
    const what = `${this.search} ${at}`;
    if (this.tab !== "registers" || !this.search.trim() || !at || what === this.foundFor) return;
    this.foundFor = what;
    void this.finding
      .ask(
        (signal) => askJson<ForcibleAnswer>("/api/forcible", "whatif-registers", { text: this.search, at }, signal),
        (answer) => {
          this.found = answer;
          if (answer.registers.length === 1) this.openRegister = answer.registers[0]!.name;
        },
      )
      .then(() => {
        if (this.finding.error) this.foundFor = "";
      });
  }

  private apply(changes: Changes): void {
    void this.applying.ask(
      (signal) =>
        askJson<WhatIfAnswer>(
          "/api/what-if",
          "whatif",
          { set: changes.set.join(";"), force: changes.force.join(";") },
          signal,
        ),
      (answer) => {
        this.applied = changes;
        sessionStorage.setItem(KEPT, JSON.stringify(changes));
        sides.set(answer.sides);
        if (!isNothing(changes)) showPanel("compare");
      },
    );
  }

  // -- what is shown -----------------------------------------------------------------------------------------------
  protected override render(): TemplateResult {
    const { changes, applied } = this;
    const all = [...changes.set, ...changes.force];
    return html`
      <div class="bar">
        <span class="group" role="radiogroup" aria-label="What to change" @keydown=${radioKey}>
          ${radio("Choices", this.tab === "choices", () => this.setTab("choices"), "behaviour that sources leave open")}
          ${radio("Registers", this.tab === "registers", () => this.setTab("registers"), "a register's value from an event on")}
        </span>
        ${this.tab === "choices"
          ? searchField("Filter choices", "Filter choices", this.filter, (text) => this.setFilter(text))
          : searchField("Find registers", "Find registers", this.search, (text) => this.setSearch(text))}
        <button ?disabled=${!all.length || same(changes, applied)} @click=${() => this.apply(changes)}>Show as B</button>
        <button ?disabled=${!all.length && isNothing(applied)} @click=${() => this.clear()}>Clear</button>
      </div>
      ${this.working(this.finding, this.applying)}
      ${this.problem(this.latest.error ?? this.applying.error ?? this.finding.error)}
      ${all.length
        ? html`<ul class="changes mono" aria-label="What is another way in B">
            ${all.map(
              (text) =>
                html`<li>
                  <button aria-label=${`Take back ${text}`} title="Take back" @click=${() => this.change(without(changes, text))}>×</button>
                  <span>${linked(text)}</span>
                </li>`,
            )}
            ${same(changes, applied)
              ? html`<li class="dim" role="status">
                  B shows this. <a href="#" role="button" @click=${(event: Event) => this.compare(event)}>Compare</a>
                </li>`
              : nothing}
          </ul>`
        : nothing}
      <div class="scroll" tabindex="0" role="region" aria-label=${this.tab === "choices" ? "Choices" : "Registers"}>
        ${this.tab === "choices" ? this.choicesTab() : this.registersTab()}
      </div>
    `;
  }

  private choicesTab(): TemplateResult | typeof nothing {
    if (!this.choices) return nothing;
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.choices.filter((one) => {
      const text = `${one.name} ${one.doc}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return html`${shown.map((one) => this.choice(one))}
    ${shown.length ? nothing : html`<div class="note">No choice fits the filter.</div>`}`;
  }

  private choice(one: Choice): TemplateResult {
    const value = choiceIn(this.changes, one.name, one.chosen);
    const values = [one.default, ...one.alternatives.filter((other) => other !== one.default)];
    return html`<div class=${value === one.chosen ? "choice" : "choice changed"}>
      <div>
        <span class="name mono">${one.name}</span>
        <select
          aria-label=${one.name}
          @change=${(event: Event) =>
            this.change(withChoice(this.changes, one.name, (event.target as HTMLSelectElement).value, one.chosen))}
        >
          ${values.map(
            (other) =>
              html`<option value=${other} .selected=${other === value}>${other}${other === one.default ? " (default)" : ""}</option>`,
          )}
        </select>
      </div>
      <p class="doc">${one.doc}</p>
      ${one.sources.length
        ? html`<details>
            <summary>sources</summary>
            <dl>
              ${one.sources.map((said) => html`<dt class="mono">${said.value}</dt><dd>${said.source}</dd>`)}
            </dl>
          </details>`
        : nothing}
    </div>`;
  }

  private registersTab(): TemplateResult {
    const found = this.search.trim() ? this.found : null;
    return html`<div class="bar">
        <label
          >from
          <input
            class="from mono"
            type="text"
            placeholder=${placeOfText(selection.address)}
            aria-label="From which event on"
            title="The event from which on the register has the value; the selection, if nothing is here"
            .value=${this.from}
            @change=${(event: Event) => this.setFrom((event.target as HTMLInputElement).value)}
          />
          on</label
        >
        <span class="dim">${found ? counted(found) : ""}</span>
      </div>
      ${found?.registers.map((one) => this.register(one))}
      ${found && !found.registers.length ? html`<div class="note">There is no such register.</div>` : nothing}
      ${found ? nothing : html`<div class="note">Type a part of a register's name, such as DEPTH or BLEND.</div>`}`;
  }

  private register(one: Forcible): TemplateResult {
    const open = one.name === this.openRegister;
    return html`<div class="register">
      <details .open=${open} @toggle=${(event: Event) => this.toggle(one.name, (event.target as HTMLDetailsElement).open)}>
        <summary class="mono"><span class="name">${one.name}</span> ${one.word ?? ""}</summary>
        ${one.doc ? html`<p class="doc">${one.doc}</p>` : nothing}
        ${one.refusal ? html`<p class="doc">Cannot be forced: ${one.refusal}.</p>` : open ? this.fields(one) : nothing}
      </details>
    </div>`;
  }

  private fields(one: Forcible): TemplateResult {
    const whole: ForcibleField = { name: "", type: "word", unit: "", doc: "", value: one.word, values: [] };
    const fields = one.fields.length ? [...one.fields, whole] : [whole];
    return html`${fields.map((field) => this.field(one.name, field))}`;
  }

  private field(register: string, field: ForcibleField): TemplateResult {
    const what = field.name ? `${register}.${field.name}` : register;
    const add = (input: HTMLInputElement | HTMLSelectElement): void => {
      if (!input.value.trim()) return;
      this.change(withForce(this.changes, what, input.value, this.place));
      input.value = "";
    };
    const label = `New value of ${what}`;
    return html`<div class="field mono" title=${field.doc}>
      <span class="name">${field.name || "whole word"}</span>
      <span class="now">${field.value ?? ""}</span>
      ${field.values.length
        ? html`<select aria-label=${label} @change=${(event: Event) => add(event.target as HTMLSelectElement)}>
            <option value="">choose</option>
            ${field.values.map((value) => html`<option value=${value}>${value}</option>`)}
          </select>`
        : html`<input
            type="text"
            aria-label=${label}
            placeholder=${field.name ? `${field.type}${field.unit ? `, ${field.unit}` : ""}` : "0x00000000"}
            @change=${(event: Event) => add(event.target as HTMLInputElement)}
          />`}
    </div>`;
  }

  // -- what is done ------------------------------------------------------------------------------------------------
  private setTab(tab: Tab): void {
    this.tab = tab;
    this.requestUpdate();
    this.find();
  }

  private setFilter(filter: string): void {
    this.filter = filter;
    this.requestUpdate();
  }

  private setSearch(search: string): void {
    this.search = search;
    this.requestUpdate();
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.find(), TYPING_MS);
  }

  private setFrom(from: string): void {
    this.from = from;
    this.requestUpdate();
  }

  private toggle(name: string, open: boolean): void {
    if (open === (this.openRegister === name)) return;
    this.openRegister = open ? name : "";
    this.requestUpdate();
  }

  private change(changes: Changes): void {
    this.changes = changes;
    this.requestUpdate();
  }

  /** B is again what it was at first: nothing, or the second capture of the command line. */
  private clear(): void {
    this.changes = NOTHING;
    if (isNothing(this.applied)) this.requestUpdate();
    else this.apply(NOTHING);
  }

  private compare(event: Event): void {
    event.preventDefault();
    showPanel("compare");
  }
}

function counted({ registers, more }: ForcibleAnswer): string {
  return registers.length === 1 ? "1 register" : `${registers.length}${more ? " and more" : ""} registers`;
}

customElements.define("pg-whatif", WhatIfPanel);
