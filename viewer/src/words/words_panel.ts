// The panel of words: what the guest wrote to make the selected draw, word by word.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import { askJson, type WordLine } from "../shared/api";
import { checkBox } from "../shared/check_box";
import { Panel, linked } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { columnsOf } from "./line";

export class WordsPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      .row {
        display: flex;
        gap: 10px;
      }
      .row:hover {
        background: var(--hover);
      }
      .row > span {
        flex: none;
      }
      .address {
        color: var(--dim);
        min-width: 10ch;
      }
      .word {
        min-width: 8ch;
      }
      .mark {
        width: 1ch;
        color: var(--accent);
      }
      .what {
        min-width: 9ch;
        color: var(--dim);
      }
      .register {
        min-width: 24ch;
      }
      .changed .register {
        color: var(--strong);
      }
      .text {
        color: var(--dim);
      }
      .changed .text {
        color: var(--text);
      }
      .row.marked {
        background: var(--chosen);
      }
    `,
  ];

  private readonly list = new RowsList(this);
  private lines: (WordLine | string)[] | null = null;
  private shown: (WordLine | string)[] = [];
  /** Frames and passes have no words of their own. */
  private ofEvent = true;
  private changedOnly = false;
  private filter = "";
  /** The line that a link led to. */
  private marked: WordLine | string | null = null;

  protected selected(): void {
    const at = placeOfText(selection.address);
    if (at === this.asked && this.lines) this.markWanted();
    if (!at || at === this.asked) return;
    this.asked = at;
    const parsed = parseAddress(at);
    this.ofEvent = !parsed || (parsed.draw ?? parsed.event) !== undefined;
    if (!this.ofEvent) {
      this.lines = null;
      this.shown = [];
      this.latest.stop();
      return;
    }
    void this.latest.ask(
      (signal) => askJson<{ lines: (WordLine | string)[] }>("/api/words", "words", { at }, signal),
      (answer) => {
        // The first line says what follows, for programs that read it alone.
        this.lines = answer.lines.filter((line) => typeof line === "string" || !("schema" in line));
        this.sift();
        this.list.rows.show(0);
        this.markWanted();
      },
    );
  }

  /** Mark the word that a link led to, and bring it into view. */
  private markWanted(): void {
    const wanted = selection.detail?.word;
    this.marked = (wanted && this.lines?.[wanted.line]) || null;
    this.requestUpdate();
    if (!this.marked) return;
    this.filter = "";
    this.changedOnly = false;
    this.sift();
    // The list must know how many rows there are, and the box may just have come into view.
    void this.updateComplete.then(() => requestAnimationFrame(() => this.list.rows.show(this.shown.indexOf(this.marked!), "center")));
  }

  protected override render(): TemplateResult {
    const lines = this.latest.error ? null : this.lines;
    return html`
      <div class="bar">
        ${searchField("Filter words", "Filter words by register, value or field", this.filter, (text) => {
          this.filter = text;
          this.sift();
        })}
        ${checkBox("changed only", this.changedOnly, (on) => {
          this.changedOnly = on;
          this.sift();
        })}
        <span class="dim mono">${lines ? `${this.shown.length} words` : ""}</span>
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      <div class="scroll" tabindex="0" role="table" aria-label="Words" aria-rowcount=${this.shown.length}>
        ${this.ofEvent ? nothing : html`<div class="note">Select an event to see its words.</div>`}
        ${lines && !this.shown.length ? html`<div class="note">No words.</div>` : nothing}
        ${this.list.render(lines ? this.shown.length : 0, (index) => this.row(index))}
      </div>
    `;
  }

  private sift(): void {
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = (this.lines ?? []).filter((line) => {
      if (!this.changedOnly && !wanted.length) return true;
      const columns = columnsOf(line);
      if (this.changedOnly && !columns.changed) return false;
      const text = Object.values(columns).join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    this.requestUpdate();
  }

  private row(index: number): TemplateResult | typeof nothing {
    const line = this.shown[index];
    if (line === undefined) return nothing;
    const columns = columnsOf(line);
    if (!columns.word) {
      return html`<div class="row" role="row" aria-rowindex=${index + 1}><span role="cell">${linked(columns.text)}</span></div>`;
    }
    const classes = ["row", columns.changed ? "changed" : "", line === this.marked ? "marked" : ""].filter(Boolean).join(" ");
    return html`<div class=${classes} role="row" title=${`${columns.register} ${columns.text}`.trim()} aria-current=${line === this.marked ? "true" : nothing} aria-rowindex=${index + 1}>
      <span class="address" role="cell">${columns.address}</span>
      <span class="word" role="cell">${columns.word}</span>
      <span class="mark" role="cell" title=${columns.changed ? "changed since the last draw" : ""}>${columns.changed ? "*" : ""}</span>
      <span class="register" role="cell">${columns.register}</span>
      <span class="text" role="cell">${columns.text}</span>
      <span class="what" role="cell">${columns.what}</span>
    </div>`;
  }
}

customElements.define("pg-words", WordsPanel);
