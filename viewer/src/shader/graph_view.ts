// The control flow of a program as a drawing: blocks from top to bottom, what ran drawn strongly.

import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import { GraphCanvas, edgeView, graphStyles, nodeView, shortened } from "../shared/graph_canvas";
import { layOut, type Path, type Placed } from "../shared/graph_layout";
import { panelStyles } from "../shared/styles";
import type { FlowAnswer, FlowBlock } from "./api";

const BLOCK = { width: 216, height: 58 };
/** Letters of an instruction that fit into a block. */
const LETTERS = 28;
/** The smallest zoom that the drawing is given to fit into the panel. */
const LEAST_ZOOM = 0.6;

export class ShaderGraph extends LitElement {
  static override properties = { flow: { attribute: false }, current: { attribute: false } };
  static override styles = [
    panelStyles,
    graphStyles,
    css`
      .scroll {
        contain: content;
        position: relative;
      }
      .ran .box {
        stroke: var(--text);
      }
      .hangs .box {
        stroke: var(--bad);
      }
      text {
        fill: var(--dim);
      }
      .ran text {
        fill: var(--text);
      }
      text.range {
        fill: var(--strong);
      }
      .edge.weak {
        stroke-width: 1;
      }
    `,
  ];

  declare flow: FlowAnswer | null;
  /** The number of the instruction that comes next. */
  declare current: number | null;
  private readonly canvas = new GraphCanvas(this, LEAST_ZOOM);
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
    const targets = this.flow?.blocks.map((block) => block.edges.map((edge) => edge.to));
    this.canvas.show(targets ? layOut(targets, BLOCK) : null);
  }

  protected override updated(): void {
    const here = this.renderRoot.querySelector(".here");
    const block = here?.getAttribute("transform") ?? "";
    if (block === this.shownBlock) return;
    this.shownBlock = block;
    // Not at once: the drawing may be about to get another size.
    requestAnimationFrame(() => here?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }

  protected override render(): TemplateResult {
    const { flow } = this;
    if (!flow) return html`<div class="note">…</div>`;
    return html`
      <div class="bar">
        <span class="dim grow">
          ${flow.total} ${flow.total === 1 ? "block" : "blocks"}${flow.total > flow.blocks.length
            ? html`, <strong>the first ${flow.blocks.length} are drawn</strong>`
            : nothing}
        </span>
        ${this.canvas.buttons()}
      </div>
      <div class="scroll" role="group" aria-label="Control flow">
        ${this.canvas.drawing((path) => this.edge(path, flow), (number, place) => this.block(flow.blocks[number]!, place))}
      </div>
    `;
  }

  private edge(path: Path, flow: FlowAnswer): TemplateResult {
    const edge = flow.blocks[path.from]!.edges[path.edge]!;
    const label = [edge.kind === "call" ? "call" : edge.when, edge.taken > 1 ? `×${edge.taken}` : ""].filter(Boolean).join(" ");
    const taken = edge.taken ? `taken ${edge.taken} times` : "not taken";
    const title = `${edge.kind || "next"}${edge.when ? ` if ${edge.when}` : ""}: ${taken}`;
    return edgeView(path, edge.taken ? "taken" : "weak", title, label);
  }

  private block(block: FlowBlock, place: Placed): TemplateResult {
    const here = this.current !== null && block.first <= this.current && this.current <= block.last;
    const count = block.last - block.first + 1;
    const range = block.first === block.last ? block.address : `${block.address} – ${block.end}`;
    const facts = `${count} ${count === 1 ? "instruction" : "instructions"}, ${block.hits ? `ran ×${block.hits}` : "not run"}`;
    return nodeView({
      place,
      ...BLOCK,
      classes: `block ${block.hits ? "ran" : ""} ${block.hangs ? "hangs" : ""}`,
      label: `Block ${range}: ${facts}`,
      current: here ? "step" : "false",
      title: `${block.last_text}${block.hangs ? "\nThe unit can hang here." : ""}`,
      content: svg`<text class="range" x="8" y="17">${range}</text>
        <text x="8" y="34">${facts}</text>
        <text x="8" y="51">${shortened(block.last_text, LETTERS)}</text>`,
      choose: () => this.choose(block),
    });
  }

  private choose(block: FlowBlock): void {
    this.dispatchEvent(new CustomEvent<number>("instruction", { detail: block.first }));
  }
}

customElements.define("pg-shader-graph", ShaderGraph);
