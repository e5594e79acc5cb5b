// The panel that steps through a shader: its listing, steps or control flow on one side, the step's values on the other.

import { html, nothing, type TemplateResult } from "lit";
import { splitStep, toFragment } from "../shared/address";
import { askJson } from "../shared/api";
import { checkBox } from "../shared/check_box";
import { Latest } from "../shared/latest";
import { Panel } from "../shared/panel";
import { RowsList } from "../shared/rows_list";
import { byProgram } from "../shared/runs";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import type { Kind, Steppable, TraceAnswer } from "./api";
import "./graph_view";
import { chosenIn, holdsFor, namesRun, placeFor, rangeOf, runOf } from "./programs";
import { FORMATS, linesOf, type Format } from "./registers";
import { shaderStyles } from "./shader_styles";
import { registersView, stepView } from "./step_view";
import { Tracing } from "./tracing";

const VIEWS = ["listing", "steps", "graph"] as const;
type View = (typeof VIEWS)[number];
const TITLES: Record<View, string> = { listing: "Listing", steps: "Steps", graph: "Graph" };

export class ShaderPanel extends Panel {
  static override styles = [panelStyles, shaderStyles];

  private readonly list = new RowsList(this, ".rows-of");
  private readonly tracer = new Latest(() => this.requestUpdate());
  private programs: Steppable[] = [];
  /** What `programs` tells of. */
  private place: string | null = null;
  private tracing: Tracing | null = null;
  private touched: ReadonlySet<string> = new Set();
  private view: View = "listing";
  private format: Format = "typed";
  private all = false;
  private filter = "";
  /** The row that was last brought into view: who scrolls away stays there until the next step. */
  private shown = "";
  private lastRow = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.tracer.state !== "idle" || this.tracer.error) this.asked = "";
    this.tracer.stop();
  }

  protected selected(): void {
    const { run, step } = splitStep(selection.address);
    if (!run) return;
    if (run === this.asked) {
      if (step !== null) this.tracing?.go(step, false);
      return;
    }
    this.asked = run;
    const place = placeFor(run);
    if (place === null) {
      this.place = null;
      this.programs = [];
      this.latest.stop();
      this.forget();
    } else if (holdsFor(this.place, this.programs, run) && !this.latest.error) this.follow(run, step);
    else {
      this.forget();
      this.place = null;
      this.programs = [];
      void this.latest.ask(
        (signal) => askJson<{ programs: Steppable[] }>("/api/programs", "shader programs", { at: place }, signal),
        (answer) => {
          this.place = place;
          this.programs = answer.programs;
          this.follow(run, step);
        },
      );
    }
  }

  /** Trace the run that the address names, if it names one. */
  private follow(run: string, step: number | null): void {
    if (!namesRun(run, this.programs)) {
      this.forget();
      return;
    }
    if (this.tracing?.trace.address === run) return;
    void this.tracer.ask(
      (signal) => askJson<TraceAnswer>("/api/trace", "shader", { at: run }, signal),
      (trace) => {
        this.forget(false);
        this.tracing = new Tracing(trace, () => this.requestUpdate());
        this.touched = new Set(trace.touched);
        this.shown = "";
        this.tracing.go(step ?? 0, false);
      },
    );
  }

  private forget(stop = true): void {
    if (stop) this.tracer.stop();
    this.tracing?.stop();
    this.tracing = null;
    this.requestUpdate();
  }

  protected override updated(): void {
    const tracing = this.tracing;
    if (tracing && this.view !== "graph") {
      const { start, end } = this.list.rows.span;
      (this.view === "steps" ? tracing.steps : tracing.code).need(start, end);
    }
    if (!tracing?.answer || tracing.answer.step !== tracing.step) return;
    const row = this.view === "steps" ? tracing.step : tracing.current;
    const shown = `${this.view} ${tracing.step}`;
    if (row === null || this.view === "graph" || shown === this.shown) return;
    const far = !this.shown.startsWith(this.view) || Math.abs(row - this.lastRow) > this.list.rows.page / 2;
    this.shown = shown;
    this.lastRow = row;
    // The list knows its box only after this update.
    requestAnimationFrame(() => this.list.rows.show(row, far ? "center" : "auto"));
  }

  // -- what it shows --------------------------------------------------------------------------------------------------
  protected override render(): TemplateResult {
    const error = this.latest.error ?? this.tracer.error;
    const tracing = error ? null : this.tracing;
    return html`
      ${this.chooser()} ${tracing ? this.bars(tracing) : nothing} ${this.working(this.tracer)}
      ${this.problem(error ?? tracing?.error ?? null)}
      ${tracing
        ? html`<div class="body ${this.view}" @keydown=${(event: KeyboardEvent) => this.key(event, tracing)}>
            <div class="code">${this.view === "graph" ? this.graph(tracing) : this.rows(tracing)}</div>
            <div class="side">${this.side(tracing)}</div>
          </div>`
        : error
          ? nothing
          : this.hint()}
    `;
  }

  private hint(): TemplateResult {
    if (this.latest.state !== "idle" || this.tracer.state !== "idle") return html`<div class="note">…</div>`;
    const text =
      this.place === null
        ? "Select a draw or a launch to step through its programs."
        : this.programs.length
          ? "Choose above what to step through."
          : "Nothing here runs a program that can be stepped through.";
    return html`<div class="note scroll" tabindex="0">${text}</div>`;
  }

  /** A form for each program: numbers and a button; a link where there is nothing to choose. */
  private chooser(): TemplateResult | typeof nothing {
    if (!this.programs.length) return nothing;
    return html`<div class="bar" role="group" aria-label="What to step through">
      ${this.programs.filter((program) => program.parts.length).map((program) => this.form(program))}
      ${byProgram(this.programs.filter((program) => !program.parts.length)).map(
        ({ program, addresses }) =>
          html`<span><span class="dim">${program}</span>${addresses.map((one) => this.link(one))}</span>`,
      )}
      ${this.tracing ? this.views() : nothing}
    </div>`;
  }

  private link(address: string): TemplateResult {
    const current = address === selection.run;
    return html` <a class="mono" href=${toFragment(address)} aria-current=${current ? "true" : nothing}>${address}</a>`;
  }

  private form(program: Steppable): TemplateResult {
    const chosen = chosenIn(selection.run, program);
    return html`<form @submit=${(event: Event) => this.start(event, program)}>
      <span class="dim">${program.program}</span>
      ${program.parts.map(
        (part, at) => html`<label
          >${part.name}
          <input
            type="text"
            class="mono"
            spellcheck="false"
            autocomplete="off"
            aria-label="${program.program}: ${part.name}, ${rangeOf(part)}"
            title=${rangeOf(part)}
            .value=${chosen[at] ?? part.limits.map(() => "0").join(",")}
        /></label>`,
      )}
      <button>Step</button>
    </form>`;
  }

  private start(event: Event, program: Steppable): void {
    event.preventDefault();
    const inputs = [...(event.target as HTMLFormElement).querySelectorAll("input")];
    const run = runOf(program, inputs.map((input) => input.value));
    for (const input of inputs) input.ariaInvalid = String(run === null);
    if (run !== null) selection.select(run);
  }

  private bars(tracing: Tracing): TemplateResult {
    const { trace } = tracing;
    const go = (step: number): void => tracing.go(step);
    const button = (text: string, title: string, act: () => void, off = false): TemplateResult =>
      html`<button title=${title} aria-label=${title} ?disabled=${off} @click=${act}>${text}</button>`;
    const first = tracing.step === 0;
    const last = tracing.step === trace.steps;
    return html`
      <div class="bar steps" role="toolbar" aria-label="Steps" @keydown=${(event: KeyboardEvent) => this.key(event, tracing)}>
        ${button("|◀", "First step (Home)", () => go(0), first)}
        ${button("◀●", "Back to a breakpoint, or to where the picked instruction ran (P)", () => tracing.toVisit("previous"), first)}
        ${button("◀", "Step back (p, ←)", () => go(tracing.step - 1), first)}
        ${button("▶", "Step (n, →)", () => go(tracing.step + 1), last)}
        ${button("●▶", "On to a breakpoint, or to where the picked instruction runs (N)", () => tracing.toVisit("next"), last)}
        ${button("▶|", "The end (End)", () => go(trace.steps), last)}
        <input
          type="range"
          min="0"
          max=${trace.steps}
          .value=${String(tracing.step)}
          aria-label="Step"
          aria-valuetext="step ${tracing.step} of ${trace.steps}"
          @input=${(event: Event) => go(Number((event.target as HTMLInputElement).value))}
        />
        <label
          ><input
            class="number mono"
            type="text"
            inputmode="numeric"
            aria-label="Number of the step"
            .value=${String(tracing.step)}
            @change=${(event: Event) => {
              const field = event.target as HTMLInputElement;
              if (/^\d+$/.test(field.value.trim())) go(Number(field.value));
              field.value = String(tracing.step);
            }}
          /><span class="dim">of ${trace.steps.toLocaleString("en")}</span></label
        >
        ${this.births(tracing, "nan", "NaN")} ${this.births(tracing, "infinite", "inf")}
        ${tracing.breakpoints.size
          ? html`<button title="Remove all breakpoints" @click=${() => this.clear(tracing)}>✕ ${tracing.breakpoints.size} ●</button>`
          : nothing}
      </div>
      ${trace.cut ? html`<div class="note bad" role="note">The trace is cut: ${trace.cut}.</div>` : nothing}
    `;
  }

  /** Ways to where NaNs or infinities appear, if there are any. */
  private births(tracing: Tracing, kind: Kind, name: string): TemplateResult | typeof nothing {
    const count = tracing.trace.births[kind];
    if (!count) return nothing;
    const first = tracing.trace.first[kind];
    return html`<span class="bad" title=${first?.text ?? `${count} came from outside`}>${count} ${name}</span>
      <button title="Back to where a ${name} appears" aria-label="Back to where a ${name} appears"
        @click=${() => tracing.toBirth("previous", kind)}>◂${name}</button>
      <button title="On to where a ${name} appears" aria-label="On to where a ${name} appears"
        @click=${() => tracing.toBirth("next", kind)}>${name}▸</button>`;
  }

  /** What one side shows: the program as a list, its steps, or its control flow. */
  private views(): TemplateResult {
    return html`<span class="views" role="radiogroup" aria-label="View">
      ${VIEWS.map(
        (view) => html`<button role="radio" aria-checked=${this.view === view} @click=${() => this.show(view)}>${TITLES[view]}</button>`,
      )}
    </span>`;
  }

  private graph(tracing: Tracing): TemplateResult {
    tracing.needFlow();
    return html`<pg-shader-graph
      .flow=${tracing.flow}
      .current=${tracing.current}
      @instruction=${(event: CustomEvent<number>) => this.toInstruction(tracing, event.detail)}
    ></pg-shader-graph>`;
  }

  private rows(tracing: Tracing): TemplateResult {
    const steps = this.view === "steps";
    const count = steps ? tracing.trace.steps : tracing.trace.instructions;
    return html`<div
      class="scroll rows-of ${steps ? "steps-list" : ""}"
      tabindex="0"
      role="table"
      aria-label=${steps ? "Steps of the trace" : "Instructions"}
      aria-rowcount=${count}
    >
      ${this.list.render(count, (index) => (steps ? this.stepRow(tracing, index) : this.codeRow(tracing, index)))}
    </div>`;
  }

  private codeRow(tracing: Tracing, index: number): TemplateResult {
    const row = tracing.code.get(index);
    if (!row) return html`<div class="row" role="row" aria-rowindex=${index + 1}><span class="dim" role="cell">…</span></div>`;
    const [number, address, text, hits, nan, infinite, source] = row;
    const current = number === tracing.current;
    const classes = ["row", current ? "current" : "", number === tracing.picked ? "picked" : "", hits ? "" : "unused"];
    return html`<div
      class=${classes.filter(Boolean).join(" ")}
      role="row"
      aria-rowindex=${index + 1}
      aria-current=${current ? "step" : "false"}
      @click=${() => tracing.pick(number === tracing.picked ? null : number)}
    >
      <span role="cell">${this.stop(tracing, number, address)}</span>
      <span class="now" role="cell">${current ? "▶" : ""}</span>
      <span class="address" role="cell">${address}</span>
      <span class="hits" role="cell" title=${hits ? `ran ${hits} times` : "did not run"}>${hits ? `×${hits}` : ""}</span>
      <span class="text" role="cell">${text}</span>
      ${this.born(tracing, nan, "NaN")} ${this.born(tracing, infinite, "inf")}
      ${source
        ? html`<span class="source" role="cell" title=${source.file}>${source.file}:${source.line}  ${source.text}</span>`
        : nothing}
    </div>`;
  }

  private stop(tracing: Tracing, number: number, address: string): TemplateResult {
    const on = tracing.breakpoints.has(number);
    const toggle = (event: Event): void => {
      event.stopPropagation();
      tracing.toggle(number);
    };
    return html`<button
      class=${on ? "stop on" : "stop"}
      tabindex="-1"
      aria-pressed=${on}
      aria-label="Breakpoint at ${address}"
      title="Breakpoint (b)"
      @click=${toggle}
    >●</button>`;
  }

  private born(tracing: Tracing, step: number | null, name: string): TemplateResult | typeof nothing {
    if (step === null) return nothing;
    return html`<button
      class="born"
      title="A ${name} first appeared here at step ${step}: go there"
      @click=${(event: Event) => {
        event.stopPropagation();
        tracing.go(step);
      }}
    >${name}</button>`;
  }

  private stepRow(tracing: Tracing, index: number): TemplateResult {
    const row = tracing.steps.get(index);
    const current = index === tracing.step;
    if (!row) {
      return html`<div class="row" role="row" aria-rowindex=${index + 1}><span class="index" role="cell">${index}</span></div>`;
    }
    const [step, number, address, text, happened] = row;
    return html`<div
      class=${current ? "row current" : "row"}
      role="row"
      aria-rowindex=${index + 1}
      aria-current=${current ? "step" : "false"}
      @click=${() => tracing.go(step)}
    >
      <span class="index" role="cell">${step}</span>
      <span class="now" role="cell">${current ? "▶" : ""}</span>
      <span class="address" role="cell">${tracing.breakpoints.has(number) ? "●" : ""}${address}</span>
      <span class="text" role="cell">${text}</span>
      <span class="happened" role="cell">${happened}</span>
    </div>`;
  }

  private side(tracing: Tracing): TemplateResult | typeof nothing {
    const answer = tracing.answer;
    if (!answer) return nothing;
    const go = (step: number): void => tracing.go(step);
    const lines = linesOf(answer.registers, answer.writes ?? [], this.format, this.all ? null : this.touched, this.filter);
    return html`
      ${stepView(answer, this.format, go)}
      <div class="bar">
        ${searchField("Filter registers", "Filter registers by name", this.filter, (text) => {
          this.filter = text;
          this.requestUpdate();
        })}
        <select
          aria-label="Values as"
          .value=${this.format}
          @change=${(event: Event) => {
            this.format = (event.target as HTMLSelectElement).value as Format;
            this.requestUpdate();
          }}
        >
          ${FORMATS.map((format) => html`<option value=${format}>${format}</option>`)}
        </select>
        ${checkBox("all", this.all, (on) => this.setAll(on), "Also registers that no step reads or writes")}
      </div>
      <div class="scroll values mono" tabindex="0" role="region" aria-label="Registers">
        ${lines.length ? registersView(lines, go) : html`<div class="note">No register.</div>`}
      </div>
    `;
  }

  // -- what it does ---------------------------------------------------------------------------------------------------
  private show(view: View): void {
    this.view = view;
    this.shown = "";
    this.requestUpdate();
  }

  private setAll(all: boolean): void {
    this.all = all;
    this.requestUpdate();
  }

  private clear(tracing: Tracing): void {
    tracing.breakpoints.clear();
    this.requestUpdate();
  }

  private toInstruction(tracing: Tracing, number: number): void {
    this.show("listing");
    // The list has no box before it is drawn; the picked instruction is what is looked at, not the step.
    this.shown = `listing ${tracing.step}`;
    tracing.pick(number);
    void this.updateComplete.then(() => requestAnimationFrame(() => this.list.rows.show(number, "start")));
  }

  private movePicked(tracing: Tracing, by: number): void {
    const from = tracing.picked ?? tracing.current ?? 0;
    const to = Math.max(0, Math.min(tracing.trace.instructions - 1, from + by));
    tracing.pick(to);
    this.list.rows.show(to);
  }

  private key(event: KeyboardEvent, tracing: Tracing): void {
    const focus = event.composedPath()[0] as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (focus.matches("input:not([type=checkbox]), select")) return;
    if (!this.acted(event.key, tracing)) return;
    event.preventDefault();
    // Some of these keys have a meaning for the whole page.
    event.stopPropagation();
  }

  private acted(key: string, tracing: Tracing): boolean {
    const listing = this.view === "listing";
    const own = tracing.picked ?? tracing.current;
    switch (key) {
      case "n":
      case "ArrowRight":
      case "F10":
        tracing.go(tracing.step + 1);
        return true;
      case "p":
      case "ArrowLeft":
        tracing.go(tracing.step - 1);
        return true;
      case "N":
      case "F8":
        tracing.toVisit("next");
        return true;
      case "P":
        tracing.toVisit("previous");
        return true;
      case "Home":
        tracing.go(0);
        return true;
      case "End":
        tracing.go(tracing.trace.steps);
        return true;
      case "b":
      case "F9":
        if (own !== null) tracing.toggle(own);
        return true;
      case "x":
      case "X":
        tracing.toBirth(key === "x" ? "next" : "previous", "special");
        return true;
      case "ArrowDown":
      case "ArrowUp":
        if (!listing) return false;
        this.movePicked(tracing, key === "ArrowDown" ? 1 : -1);
        return true;
      case "Escape":
        if (tracing.picked === null) return false;
        tracing.pick(null);
        return true;
      default:
        return false;
    }
  }
}

customElements.define("pg-shader", ShaderPanel);
