// The graph of a frame: passes, copies and so on from top to bottom, and which of them use what others wrote.

import { css, html, nothing, svg, type TemplateResult } from "lit";
import { choose, listPictures } from "../picture/source";
import { parseAddress } from "../shared/address";
import { askBlob, askJson, server, Superseded } from "../shared/api";
import { GraphCanvas, edgeView, graphStyles, nodeView, shortened } from "../shared/graph_canvas";
import { layOut, type Path, type Placed } from "../shared/graph_layout";
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
/** Letters of a title that fit into a node. */
const LETTERS = 27;
/** The smallest zoom that the drawing is given to fit into the panel. */
const LEAST_ZOOM = 0.5;
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

export class GraphPanel extends Panel {
  static override styles = [
    panelStyles,
    graphStyles,
    css`
      .pass .box {
        stroke: var(--draw);
      }
      .show .box {
        stroke: var(--show);
      }
      text {
        fill: var(--text);
      }
      text.dim {
        fill: var(--dim);
      }
      image {
        image-rendering: pixelated;
      }
    `,
  ];

  private answer: GraphAnswer | null = null;
  private readonly canvas = new GraphCanvas(this, LEAST_ZOOM);
  /** Edges in the order of their blocks' targets, as the layout has them. */
  private out: Edge[][] = [];
  private frame = -1;
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
    const targets = this.out.map((edges) => edges.map((edge) => edge.target));
    this.canvas.show(layOut(targets, { width: WIDTH, height: answer.nodes.map(heightOf) }));
    this.controller = new AbortController();
    void this.illustrate(answer, this.controller.signal);
  }

  /** Read a small picture for each node that has one, one after the other. */
  private async illustrate(answer: GraphAnswer, signal: AbortSignal): Promise<void> {
    for (const [number, node] of answer.nodes.entries()) {
      if (heightOf(node) !== HIGH) continue;
      try {
        const found = await listPictures(server, node.last, "graph-pictures", signal);
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
    const { answer } = this;
    return html`
      <div class="bar">
        <span class="dim grow">${answer ? this.facts(answer) : ""}</span>
        ${this.canvas.buttons()}
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      <div class="scroll" role="group" aria-label="Frame graph">
        ${answer && !this.latest.error
          ? this.canvas.drawing((path) => this.edge(path), (number, place) => this.node(answer.nodes[number]!, number, place))
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
    const reads = edge.kind === "reads";
    const ranges = edge.ranges.map((one) => `${one.address}+${one.size.toString(16)}`).join(", ");
    const size = bytesText(edge.size);
    const classes = reads ? edge.kind : `${edge.kind} weak`;
    return edgeView(path, classes, `${reads ? "reads" : "writes over"} ${size}: ${ranges}`, reads ? size : "");
  }

  private node(node: Node, number: number, place: Placed): TemplateResult {
    const counts = node.draws
      ? `${node.draws} ${node.draws === 1 ? "draw" : "draws"}`
      : node.events > 1
        ? `${node.events} events`
        : "";
    const facts = [node.address, node.unit, counts].filter(Boolean).join(" · ");
    const picture = this.pictures.get(number);
    return nodeView({
      place,
      width: WIDTH,
      height: heightOf(node),
      classes: node.kind,
      label: `${node.title}: ${facts}`,
      current: this.here(node) ? "true" : "false",
      title: node.title,
      content: svg`<text x="8" y="18">${shortened(node.title, LETTERS)}</text>
        <text class="dim" x="8" y="36">${shortened(facts, LETTERS)}</text>
        ${picture
          ? svg`<image href=${picture} x=${PICTURE.x} y=${PICTURE.y} width=${PICTURE.width} height=${PICTURE.height}></image>`
          : nothing}`,
      choose: () => selection.select(node.address),
    });
  }
}

customElements.define("pg-graph", GraphPanel);
