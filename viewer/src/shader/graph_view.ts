// The control flow of a program as a drawing: blocks from top to bottom, what ran drawn strongly.

import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import { panelStyles } from "../shared/styles";
import type { FlowAnswer, FlowBlock } from "./api";
import { drawn, layOut, type Graph, type Path } from "../shared/graph_layout";

const BLOCK = { width: 216, height: 58 };
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2];
const LETTERS = 28;

function short(text: string): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}

export class ShaderGraph extends LitElement {
  static override properties = { flow: { attribute: false }, current: { attribute: false } };
  static override styles = [
    panelStyles,
    css`
      .scroll {
        contain: content;
        position: relative;
      }
      svg {
        display: block;
      }
      .box {
        fill: var(--field);
        stroke: var(--edge);
      }
      .ran .box {
        stroke: var(--text);
      }
      .hangs .box {
        stroke: var(--bad);
      }
      .here .box {
        fill: var(--chosen);
        stroke: var(--accent);
        stroke-width: 2;
      }
      .block {
        cursor: pointer;
      }
      .block:hover .box {
        fill: var(--hover);
      }
      .block.here:hover .box {
        fill: var(--chosen);
      }
      .block:focus-visible {
        outline: none;
      }
      .block:focus-visible .box {
        stroke: var(--accent);
        stroke-width: 3;
      }
      text {
        font: var(--mono);
        fill: var(--dim);
      }
      .ran text {
        fill: var(--text);
      }
      text.range {
        fill: var(--strong);
      }
      .edge {
        fill: none;
        stroke: var(--edge);
        stroke-dasharray: 4 3;
      }
      .edge.taken {
        stroke: var(--accent);
        stroke-width: 1.6;
        stroke-dasharray: none;
      }
      .head {
        fill: var(--edge);
      }
      .head.taken {
        fill: var(--accent);
      }
      text.label {
        fill: var(--dim);
        paint-order: stroke;
        stroke: var(--ground);
        stroke-width: 3px;
        font-size: 11px;
      }
    `,
  ];

  declare flow: FlowAnswer | null;
  /** The number of the instruction that comes next. */
  declare current: number | null;
  private graph: Graph | null = null;
  private zoom = 1;
  private fitted = true;
  /** Where the current block is; it is brought into view when it changes. */
  private shownBlock = "";
  private laidOut: FlowAnswer | null = null;

  constructor() {
    super();
    this.flow = null;
    this.current = null;
  }

  protected override willUpdate(): void {
    if (this.flow === this.laidOut) return;
    this.laidOut = this.flow;
    this.graph = this.flow && layOut(
        this.flow.blocks.map((block) => block.edges.map((edge) => edge.to)),
        BLOCK,
      );
    this.fitted = true;
  }

  protected override updated(): void {
    if (this.fitted && this.graph) this.fit();
    const here = this.renderRoot.querySelector(".here");
    const block = here?.getAttribute("transform") ?? "";
    if (block === this.shownBlock) return;
    this.shownBlock = block;
    // Not at once: the drawing may be about to get another size.
    requestAnimationFrame(() => here?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }

  /** All of it, if that can still be read; else its width. */
  private fit(): void {
    const box = this.renderRoot.querySelector(".scroll");
    if (!box?.clientWidth || !this.graph) return;
    this.fitted = false;
    const zoom = Math.min(1, Math.max(0.6, box.clientWidth / this.graph.width));
    if (zoom === this.zoom) return;
    this.zoom = zoom;
    this.requestUpdate();
  }

  private scale(by: 1 | -1): void {
    const next = by > 0 ? ZOOMS.find((one) => one > this.zoom + 0.01) : ZOOMS.findLast((one) => one < this.zoom - 0.01);
    if (next === undefined) return;
    this.zoom = next;
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const { flow, graph } = this;
    if (!flow || !graph) return html`<div class="note">…</div>`;
    return html`
      <div class="bar">
        <span class="dim grow">
          ${flow.total} ${flow.total === 1 ? "block" : "blocks"}${flow.total > flow.blocks.length
            ? html`, <strong>the first ${flow.blocks.length} are drawn</strong>`
            : nothing}
        </span>
        <button title="Smaller" aria-label="Smaller" @click=${() => this.scale(-1)}>−</button>
        <button title="Larger" aria-label="Larger" @click=${() => this.scale(1)}>+</button>
        <button @click=${() => this.fit()}>Fit</button>
      </div>
      <div class="scroll" role="group" aria-label="Control flow">
        <svg
          width=${Math.ceil(graph.width * this.zoom)}
          height=${Math.ceil(graph.height * this.zoom)}
          viewBox="0 0 ${graph.width} ${graph.height}"
        >
          ${graph.paths.map((path) => this.edge(path, flow))} ${flow.blocks.map((block, number) => this.block(block, number, graph))}
        </svg>
      </div>
    `;
  }

  private edge(path: Path, flow: FlowAnswer): TemplateResult {
    const edge = flow.blocks[path.from]!.edges[path.edge]!;
    const end = path.points.at(-1)!;
    const start = path.points[0]!;
    const label = [edge.kind === "call" ? "call" : edge.when, edge.taken > 1 ? `×${edge.taken}` : ""].filter(Boolean).join(" ");
    const taken = edge.taken ? "taken" : "";
    return svg`
      <path class="edge ${taken}" d=${drawn(path)}><title>${edge.kind || "next"}${edge.when ? ` if ${edge.when}` : ""}: ${
        edge.taken ? `taken ${edge.taken} times` : "not taken"
      }</title></path>
      <path class="head ${taken}" d="M${end.x} ${end.y}l-4 -7h8z"></path>
      ${label ? svg`<text class="label" x=${start.x + 4} y=${start.y + 13}>${label}</text>` : nothing}
    `;
  }

  private block(block: FlowBlock, number: number, graph: Graph): TemplateResult {
    const { x, y } = graph.blocks[number]!;
    const here = this.current !== null && block.first <= this.current && this.current <= block.last;
    const count = block.last - block.first + 1;
    const range = block.first === block.last ? block.address : `${block.address} – ${block.end}`;
    const facts = `${count} ${count === 1 ? "instruction" : "instructions"}, ${block.hits ? `ran ×${block.hits}` : "not run"}`;
    return svg`<g
      class="block ${block.hits ? "ran" : ""} ${here ? "here" : ""} ${block.hangs ? "hangs" : ""}"
      transform="translate(${x} ${y})"
      tabindex="0"
      role="button"
      aria-label="Block ${range}: ${facts}"
      aria-current=${here ? "step" : "false"}
      @click=${() => this.choose(block)}
      @keydown=${(event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        this.choose(block);
      }}
    >
      <rect class="box" width=${BLOCK.width} height=${BLOCK.height} rx="3"></rect>
      <text class="range" x="8" y="17">${range}</text>
      <text x="8" y="34">${facts}</text>
      <text x="8" y="51">${short(block.last_text)}</text>
      <title>${block.last_text}${block.hangs ? "\nThe unit can hang here." : ""}</title>
    </g>`;
  }

  private choose(block: FlowBlock): void {
    this.dispatchEvent(new CustomEvent<number>("instruction", { detail: block.first }));
  }
}

customElements.define("pg-shader-graph", ShaderGraph);
