// The panel that says why: the reason first, then the conclusion, then the details, folded.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText, toFragment, withoutMemory } from "../shared/address";
import type { Reference, WhyAnswer } from "../shared/api";
import { define } from "../shared/define";
import { Latest } from "../shared/latest";
import { Panel, linked } from "../shared/panel";
import { byProgram } from "../shared/runs";
import { panelStyles } from "../shared/styles";
import { explain } from "./event_answer";
import { leadToTexel, leadToWord, nameOf } from "./references";
import { byLine, keeping } from "./references_of_lines";
import { linesOf, openSections, sectionsOf, type Section } from "./sections";

/** Sections up to this depth are open at first; those that the reason names are open at any depth. */
const OPEN_DEPTH = 1;
/** Programs with a link: those that ran last. */
const MOST_PROGRAMS = 6;

export class WhyPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      .scroll {
        padding: 8px 10px 16px;
        contain: content;
      }
      .bar .grow {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .because {
        margin: 0 0 6px;
        font-size: 14px;
        font-weight: 600;
        color: var(--strong);
        overflow-wrap: anywhere;
      }
      .conclusion {
        margin: 0 0 10px;
        padding: 0;
        list-style: none;
      }
      .conclusion li {
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        padding-left: 2ch;
        text-indent: -2ch;
      }
      .programs {
        margin: 0 0 10px;
        padding: 0;
        list-style: none;
      }
      .details {
        border-top: 1px solid var(--line);
        padding-top: 6px;
      }
      .line {
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        line-height: 18px;
        padding-left: 16px;
      }
      details > .inside {
        margin-left: 7px;
        padding-left: 9px;
        border-left: 1px solid var(--line);
      }
      summary {
        list-style: none;
        line-height: 18px;
        overflow-wrap: anywhere;
        padding-left: 16px;
        position: relative;
        cursor: default;
        border-radius: 2px;
      }
      summary::before {
        content: "▸";
        position: absolute;
        left: 3px;
        color: var(--dim);
      }
      details[open] > summary::before {
        content: "▾";
      }
      summary:hover {
        background: var(--hover);
      }
      .ref {
        margin-left: 0.5ch;
        padding: 0 3px;
        font-size: 11px;
        border: 1px solid var(--line);
        white-space: nowrap;
      }
      .proved {
        color: var(--good);
      }
    `,
  ];

  private answer: WhyAnswer | null = null;
  private sections: Section[] = [];
  /** Sections that the reason names. */
  private named = new Set<Section>();
  private references = new Map<number, Reference[]>();
  private readonly word = new Latest(() => this.requestUpdate());
  private nothing = "";
  /** Sections that were opened or folded by hand. */
  private opened = new Map<Section, boolean>();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.word.stop();
  }

  protected selected(): void {
    const at = withoutMemory(this.session.selection.run);
    if (!at || at === this.asked) return;
    const known = placeOfText(this.asked) === placeOfText(at) && parseAddress(at)?.pixel !== undefined;
    this.asked = at;
    void this.latest.ask(
      async (signal) => {
        // A pixel of the picture that is there is answered at once. At another place reasons take the machine longest:
        // pictures and state come first, and who steps on quickly asks for none.
        if (!known) {
          await this.session.asker.calm();
          signal.throwIfAborted();
        }
        return explain(this.session, at, signal);
      },
      (answer) => {
        this.answer = answer;
        this.opened.clear();
        this.sections = sectionsOf(answer.text ?? "", answer.conclusion);
        this.named = openSections(this.sections, answer.because ?? "");
        this.references = byLine(answer.links);
        this.nothing = "";
      },
    );
  }

  protected override render(): TemplateResult {
    const answer = this.latest.error ? null : this.answer;
    return html`
      <div class="bar">
        <span class="mono grow">${answer?.address ?? this.session.selection.address}</span>
        ${answer?.proved ? html`<span class="proved" title="the values end in the bytes that were drawn">proved</span>` : nothing}
        <button ?disabled=${!this.sections.length} @click=${() => this.foldAll(true)}>Unfold all</button>
        <button ?disabled=${!this.sections.length} @click=${() => this.foldAll(false)}>Fold all</button>
      </div>
      ${this.working(this.word)}
      <div class="scroll" tabindex="0" role="region" aria-label="Why" aria-live="polite" aria-busy=${this.latest.state !== "idle"}>
        ${this.problem(this.latest.error)} ${this.problem(this.word.error)}
        ${this.nothing ? html`<div class="note" role="alert">${this.nothing}</div>` : nothing} ${answer ? this.shown(answer) : nothing}
      </div>
    `;
  }

  private shown(answer: WhyAnswer): TemplateResult {
    const conclusion = answer.conclusion ?? [];
    return html`
      ${answer.note ? html`<p class="note">${linked(answer.note)}</p>` : nothing}
      ${answer.because ? html`<p class="because">${linked(answer.because)}</p>` : nothing}
      ${conclusion.length
        ? html`<ul class="conclusion mono">
            ${conclusion.map((line) => html`<li>${linked(line.trim())}</li>`)}
          </ul>`
        : nothing}
      ${this.programs(answer)}
      ${this.sections.length
        ? html`<div class="details mono">${this.sections.map((section) => this.section(section, 0))}</div>`
        : nothing}
    `;
  }

  /** Links to the programs that ran, which bring the panel that steps through them to the front; else their addresses. */
  private programs(answer: WhyAnswer): TemplateResult | typeof nothing {
    const programs = byProgram(answer.programs ?? []);
    if (!programs.length) return nothing;
    const steps = this.session.has("shader");
    return html`<ul class="programs">
      ${programs.slice(0, MOST_PROGRAMS).map(
        ({ program, addresses }) => html`<li>
          ${steps ? "Step through the" : "Runs of the"} ${program}:
          ${addresses.map((one) =>
            steps
              ? html`<a class="mono" href=${toFragment(one)} @click=${() => this.openPanel("shader")}>${one}</a> `
              : html`<span class="mono">${one}</span> `,
          )}
        </li>`,
      )}
      ${programs.length > MOST_PROGRAMS ? html`<li class="dim">and ${programs.length - MOST_PROGRAMS} more</li>` : nothing}
    </ul>`;
  }

  private section(section: Section, depth: number): TemplateResult {
    if (!section.parts.length) return html`<div class="line">${linked(section.line)}${this.refs(section)}</div>`;
    const open = this.opened.get(section) ?? (depth < OPEN_DEPTH || this.named.has(section));
    return html`<details
      .open=${open}
      @toggle=${(event: Event) => this.toggle(section, (event.target as HTMLDetailsElement).open, open)}
    >
      <summary>${linked(section.line)}${this.refs(section)}${open ? nothing : html`<span class="dim">  +${linesOf(section) - 1}</span>`}</summary>
      ${open ? html`<div class="inside">${section.parts.map((part) => this.section(part, depth + 1))}</div>` : nothing}
    </details>`;
  }

  /** Links to the texels and registers that a line is about, if there is a panel that shows them. */
  private refs(section: Section): TemplateResult[] {
    const shown = (this.references.get(section.number) ?? []).filter((one) => this.session.has(panelOf(one)));
    return shown.map(
      (one) => html` <a
        class="ref mono"
        href=${toFragment(keeping(one.at, this.session.selection.address))}
        title=${one.register ? "the word that set it" : "the texel in its texture"}
        @click=${(event: Event) => this.follow(event, one)}
        >${nameOf(one)}</a
      >`,
    );
  }

  private follow(event: Event, reference: Reference): void {
    event.preventDefault();
    event.stopPropagation();
    const panel = panelOf(reference);
    if (reference.texture) {
      leadToTexel(this.session, reference);
      this.openPanel(panel);
      return;
    }
    void this.word.ask(
      (signal) => leadToWord(this.session, reference, signal),
      (found) => {
        this.nothing = found ? "" : `No word of the capture up to ${reference.at} writes ${reference.register}.`;
        if (found) this.openPanel(panel);
      },
    );
  }

  private toggle(section: Section, open: boolean, was: boolean): void {
    if (open === was) return;
    this.opened.set(section, open);
    this.requestUpdate();
  }

  private foldAll(open: boolean): void {
    const visit = (sections: Section[]): void => {
      for (const section of sections) {
        if (section.parts.length) this.opened.set(section, open);
        visit(section.parts);
      }
    };
    visit(this.sections);
    this.requestUpdate();
  }
}

/** The panel that shows what a reference is about. */
function panelOf(reference: Reference): string {
  return reference.texture ? "resources" : "words";
}

define("pg-why", WhyPanel);
