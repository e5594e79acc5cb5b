// The graph of a frame: passes, copies and so on from top to bottom, and which of them use what others wrote.

import { css, html, nothing, svg, type TemplateResult } from "lit";
import { choose, listPictures } from "../picture/source";
import { parseAddress } from "../shared/address";
import { askBlob, askJson, Superseded } from "../shared/api";
import { drawn, layOut, type Graph, type Path } from "../shared/graph_layout";
import { Panel } from "../shared/panel";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { store } from "../events/store";

interface Node {
  kind: string;
  title: string;
  unit: string;
  address: string;
  last: string;
  events: number;
  draws: number;
}

interface Edge {
  source: number;
  target: number;
  kind: string;
  size: number;
  ranges: { address: string; size: number }[];
}

interface GraphAnswer {
  nodes: Node[];
  edges: Edge[];
  left_out: number;
}

const WIDTH = 216;
/** Of nodes with and without a picture. */
const HIGH = 150;
const LOW = 46;
const PICTURE = { x: 8, y: 46, width: 200, height: 98 };
/** Pixels of the longer side of a small picture. */
const SMALL = 256;
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2];
const LETTERS = 27;
const UNITS = ["B", "KiB", "MiB", "GiB"];

/** 384000: "375 KiB". */
export function bytesText(size: number): string {
  let at = 0;
  while (size >= 1024 && at < UNITS.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${size >= 100 || at === 0 ? Math.round(size) : size.toFixed(1)} ${UNITS[at]}`;
}

function heightOf(node: Node): number {
  return node.kind === "pass" || node.kind === "show" ? HIGH : LOW;
}

function short(text: string): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}

export class GraphPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      svg {
        display: block;
      }
      .box {
        fill: var(--field);
        stroke: var(--edge);
      }
      .pass .box {
        stroke: var(--draw);
      }
      .show .box {
        stroke: var(--show);
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
        fill: var(--text);
      }
      text.dim {
        fill: var(--dim);
      }
      image {
        image-rendering: pixelated;
      }
      .edge {
        fill: none;
        stroke: var(--accent);
        stroke-width: 1.6;
      }
      .edge.covers {
        stroke: var(--edge);
        stroke-dasharray: 4 3;
      }
      .head {
        fill: var(--accent);
      }
      .head.covers {
        fill: var(--edge);
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

  private answer: GraphAnswer | null = null;
  private graph: Graph | null = null;
  /** Edges in the order of their blocks' targets, as the layout has them. */
  private out: Edge[][] = [];
  private frame = -1;
  private zoom = 1;
  private fitted = true;
  private pictures = new Map<number, string>();
  private controller = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.forget();
  }

  private forget(): void {
    this.controller.abort();
    for (const url of this.pictures.values()) URL.revokeObjectURL(url);
    this.pictures = new Map();
    this.asked = "";
  }

  protected selected(): void {
    const frame = parseAddress(selection.address)?.frame;
    if (frame === undefined) return;
    if (String(frame) === this.asked) {
      this.requestUpdate();
      return;
    }
    this.forget();
    this.asked = String(frame);
    void this.latest.ask(
      async (signal) => {
        const answer = await askJson<GraphAnswer>("/api/graph", "graph", { frame }, signal);
        await store.need(frame);
        return answer;
      },
      (answer) => this.show(answer, frame),
    );
  }

  private show(answer: GraphAnswer, frame: number): void {
    this.answer = answer;
    this.frame = frame;
    this.out = answer.nodes.map((_, number) => answer.edges.filter((edge) => edge.source === number));
    this.graph = layOut(
      this.out.map((edges) => edges.map((edge) => edge.target)),
      { width: WIDTH, height: answer.nodes.map(heightOf) },
    );
    this.fitted = true;
    this.controller = new AbortController();
    void this.illustrate(answer, this.controller.signal);
  }

  /** Read a small picture for each node that has one, one after the other. */
  private async illustrate(answer: GraphAnswer, signal: AbortSignal): Promise<void> {
    for (const [number, node] of answer.nodes.entries()) {
      if (heightOf(node) !== HIGH) continue;
      try {
        const found = await listPictures(node.last, "graph-pictures", signal);
        const screen = found.find((one) => one.kind === "screen");
        const one = node.kind === "pass" ? choose(found, node.last, null) : screen;
        if (!one) continue;
        const values = { at: node.last, of: one.name, form: "png", most: SMALL };
        const url = URL.createObjectURL(await askBlob("/api/picture", "graph-picture", values, signal));
        if (signal.aborted) {
          URL.revokeObjectURL(url);
          return;
        }
        this.pictures.set(number, url);
        this.requestUpdate();
      } catch (error) {
        // A graph without a picture is a graph.
        if (signal.aborted || !(error instanceof Superseded || error instanceof Error)) return;
      }
    }
  }

  protected override updated(): void {
    if (this.fitted && this.graph) this.fit();
  }

  private fit(): void {
    const box = this.renderRoot.querySelector(".scroll");
    if (!box?.clientWidth || !this.graph) return;
    this.fitted = false;
    this.zoom = Math.min(1, Math.max(0.5, box.clientWidth / this.graph.width));
    this.requestUpdate();
  }

  private scale(by: 1 | -1): void {
    const next = by > 0 ? ZOOMS.find((one) => one > this.zoom + 0.01) : ZOOMS.findLast((one) => one < this.zoom - 0.01);
    if (next === undefined) return;
    this.zoom = next;
    this.requestUpdate();
  }

  /** Whether the selection is in a node: its pass, or one of its events. */
  private here(node: Node): boolean {
    const parsed = parseAddress(selection.address);
    if (!parsed || parsed.frame !== this.frame) return false;
    if (selection.address === node.address) return true;
    const pass = parseAddress(node.address)?.pass;
    if (pass === undefined) return false;
    const loaded = store.tree.frames[this.frame]?.loaded;
    const index =
      parsed.event ?? (parsed.draw === undefined ? -1 : (loaded?.events.findIndex((one) => one.draw === parsed.draw) ?? -1));
    return index >= 0 && loaded?.passOf[index] === pass && loaded.events[index]!.draw !== null;
  }

  protected override render(): TemplateResult {
    const { answer, graph } = this;
    return html`
      <div class="bar">
        <span class="dim grow">${answer ? this.facts(answer) : ""}</span>
        <button title="Smaller" aria-label="Smaller" @click=${() => this.scale(-1)}>−</button>
        <button title="Larger" aria-label="Larger" @click=${() => this.scale(1)}>+</button>
        <button @click=${() => this.fit()}>Fit</button>
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      <div class="scroll" role="group" aria-label="Frame graph">
        ${answer && graph && !this.latest.error
          ? html`<svg
              width=${Math.ceil(graph.width * this.zoom)}
              height=${Math.ceil(graph.height * this.zoom)}
              viewBox="0 0 ${graph.width} ${graph.height}"
            >
              ${graph.paths.map((path) => this.edge(path))}
              ${answer.nodes.map((node, number) => this.node(node, number, graph))}
            </svg>`
          : nothing}
      </div>
    `;
  }

  private facts(answer: GraphAnswer): string {
    const passes = answer.nodes.filter((node) => node.kind === "pass").length;
    const text = `frame ${this.frame}: ${passes} ${passes === 1 ? "pass" : "passes"}, ${answer.nodes.length - passes} others`;
    return answer.left_out ? `${text}; ${answer.left_out} events are left out` : text;
  }

  private edge(path: Path): TemplateResult {
    const edge = this.out[path.from]![path.edge]!;
    const end = path.points.at(-1)!;
    const start = path.points[0]!;
    const ranges = edge.ranges.map((one) => `${one.address}+${one.size.toString(16)}`).join(", ");
    const what = edge.kind === "reads" ? "reads" : "writes over";
    return svg`
      <path class="edge ${edge.kind}" d=${drawn(path)}><title>${what} ${bytesText(edge.size)}: ${ranges}</title></path>
      <path class="head ${edge.kind}" d="M${end.x} ${end.y}l-4 -7h8z"></path>
      ${edge.kind === "reads" ? svg`<text class="label" x=${start.x + 4} y=${start.y + 13}>${bytesText(edge.size)}</text>` : nothing}
    `;
  }

  private node(node: Node, number: number, graph: Graph): TemplateResult {
    const { x, y } = graph.blocks[number]!;
    const counts = node.draws
      ? `${node.draws} ${node.draws === 1 ? "draw" : "draws"}`
      : node.events > 1
        ? `${node.events} events`
        : "";
    const facts = [node.address, node.unit, counts].filter(Boolean).join(" · ");
    const picture = this.pictures.get(number);
    const here = this.here(node);
    return svg`<g
      class="node ${node.kind} ${here ? "here" : ""}"
      transform="translate(${x} ${y})"
      tabindex="0"
      role="button"
      aria-label="${node.title}: ${facts}"
      aria-current=${here ? "true" : "false"}
      @click=${() => selection.select(node.address)}
      @keydown=${(event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        selection.select(node.address);
      }}
    >
      <rect class="box" width=${WIDTH} height=${heightOf(node)} rx="3"></rect>
      <text x="8" y="18">${short(node.title)}</text>
      <text class="dim" x="8" y="36">${facts}</text>
      ${picture
        ? svg`<image href=${picture} x=${PICTURE.x} y=${PICTURE.y} width=${PICTURE.width} height=${PICTURE.height}></image>`
        : nothing}
      <title>${node.title}</title>
    </g>`;
  }
}

customElements.define("pg-graph", GraphPanel);
