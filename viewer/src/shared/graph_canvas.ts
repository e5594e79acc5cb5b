// A graph as a drawing: its edges and nodes with their styles, and how large it is shown.

import { css, html, nothing, svg, type LitElement, type ReactiveController, type TemplateResult } from "lit";
import { drawn, type Graph, type Path, type Placed } from "./graph_layout";

const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2];
/** A zoom that fits the drawing may lie between two of ZOOMS; one that is this close to one of them counts as it. */
const CLOSE = 0.01;

export const graphStyles = css`
  svg {
    display: block;
  }
  .box {
    fill: var(--field);
    stroke: var(--edge);
  }
  .node {
    cursor: pointer;
  }
  .node:hover .box {
    fill: var(--hover);
  }
  .node.here .box {
    fill: var(--chosen);
    stroke: var(--accent);
    stroke-width: 2;
  }
  .node:focus-visible {
    outline: none;
  }
  .node:focus-visible .box {
    stroke: var(--accent);
    stroke-width: 3;
  }
  text {
    font: var(--mono);
  }
  .edge {
    fill: none;
    stroke: var(--accent);
    stroke-width: 1.6;
  }
  .edge.weak {
    stroke: var(--edge);
    stroke-dasharray: 4 3;
  }
  .head {
    fill: var(--accent);
  }
  .head.weak {
    fill: var(--edge);
  }
  text.label {
    fill: var(--dim);
    paint-order: stroke;
    stroke: var(--ground);
    stroke-width: 3px;
    font-size: 11px;
  }
`;

/** Shows a graph in the element's `.scroll`, at first so that it fits into its width. */
export class GraphCanvas implements ReactiveController {
  private graph: Graph | null = null;
  private zoom = 1;
  /** The box may have no size yet: the drawing is fitted at the first update at which it has one. */
  private mustFit = false;

  /** least: how small the drawing is shown to fit; below it texts could not be read. */
  constructor(
    private readonly host: LitElement,
    private readonly least: number,
  ) {
    host.addController(this);
  }

  show(graph: Graph | null): void {
    this.graph = graph;
    this.mustFit = graph !== null;
    this.host.requestUpdate();
  }

  hostUpdated(): void {
    if (this.mustFit) this.fit();
  }

  private fit(): void {
    const box = this.host.renderRoot.querySelector(".scroll");
    if (!box?.clientWidth || !this.graph) return;
    this.mustFit = false;
    this.setZoom(Math.min(1, Math.max(this.least, box.clientWidth / this.graph.width)));
  }

  private step(by: 1 | -1): void {
    const { zoom } = this;
    const next = by > 0 ? ZOOMS.find((one) => one > zoom + CLOSE) : ZOOMS.findLast((one) => one < zoom - CLOSE);
    if (next !== undefined) this.setZoom(next);
  }

  private setZoom(zoom: number): void {
    if (zoom === this.zoom) return;
    this.zoom = zoom;
    this.host.requestUpdate();
  }

  buttons(): TemplateResult {
    return html`<button title="Smaller" aria-label="Smaller" @click=${() => this.step(-1)}>−</button>
      <button title="Larger" aria-label="Larger" @click=${() => this.step(1)}>+</button>
      <button @click=${() => this.fit()}>Fit</button>`;
  }

  drawing(edge: (path: Path) => TemplateResult, node: (number: number, place: Placed) => TemplateResult): TemplateResult | typeof nothing {
    const { graph, zoom } = this;
    if (!graph) return nothing;
    return html`<svg
      width=${Math.ceil(graph.width * zoom)}
      height=${Math.ceil(graph.height * zoom)}
      viewBox="0 0 ${graph.width} ${graph.height}"
    >
      ${graph.paths.map(edge)} ${graph.blocks.map((place, number) => node(number, place))}
    </svg>`;
  }
}

export function edgeView(path: Path, classes: string, title: string, label: string): TemplateResult {
  const end = path.points.at(-1)!;
  const start = path.points[0]!;
  return svg`
    <path class="edge ${classes}" d=${drawn(path)}><title>${title}</title></path>
    <path class="head ${classes}" d="M${end.x} ${end.y}l-4 -7h8z"></path>
    ${label ? svg`<text class="label" x=${start.x + 4} y=${start.y + 13}>${label}</text>` : nothing}
  `;
}

export interface NodeView {
  place: Placed;
  width: number;
  height: number;
  classes: string;
  /** For screen readers. */
  label: string;
  /** In which sense it is the current one, if it is. */
  current: "true" | "step" | "false";
  title: string;
  /** What is in the box: SVG. */
  content: TemplateResult;
  choose: () => void;
}

export function nodeView(node: NodeView): TemplateResult {
  return svg`<g
    class="node ${node.classes} ${node.current === "false" ? "" : "here"}"
    transform="translate(${node.place.x} ${node.place.y})"
    tabindex="0"
    role="button"
    aria-label=${node.label}
    aria-current=${node.current}
    @click=${node.choose}
    @keydown=${(event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      node.choose();
    }}
  >
    <rect class="box" width=${node.width} height=${node.height} rx="3"></rect>
    ${node.content}
    <title>${node.title}</title>
  </g>`;
}

/** A text of at most so many letters; the last one stands for what does not fit. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
