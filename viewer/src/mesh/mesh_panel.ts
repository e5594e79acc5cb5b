// The panel of a draw's mesh: in space and as tables, before and after its programs.

import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import { store } from "../events/store";
import { askJson } from "../shared/api";
import { checkBox } from "../shared/check_box";
import { Latest } from "../shared/latest";
import { Panel } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { RowsList } from "../shared/rows_list";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { type MeshData } from "./api";
import { COLOURINGS, cornerColours, cssColour, without, type Colouring } from "./colours";
import "./mesh_view";
import type { MeshView } from "./mesh_view";
import type { Picked } from "./scene";
import { inputsOf, place, SPACES, type Placed, type Space } from "./space";
import { meshStyles } from "./styles";
import { emittedTable, shownTriangles, triangleTable, verdictCounts, vertexTable, type Table } from "./table";

const NO_DRAW = "Only draws have a mesh. Select one, such as with j and k.";
/** While a key is held down the selection follows when it rests. */
const REST_MS = 120;
const SPACE_TITLES: Record<Space, [string, string]> = {
  input: ["Input", "before the vertex program: an input register as it is read"],
  output: ["Output", "after the programs, divided by w: as in the picture, with the view as a box"],
  clip: ["Clip", "after the programs: x, y and w, with the view as a pyramid; the eye is at its tip"],
};
const COLOURING_TITLES: Record<Colouring, string> = {
  verdict: "by what becomes of each triangle",
  vertex: "by the colour that the program gives each vertex",
  plain: "one colour",
};
const PARTS = ["solid", "wire", "points"] as const;
type Part = (typeof PARTS)[number];
const MOST_POINTS = 600;
type Tables = "vertices" | "emitted" | "triangles";

export class MeshPanel extends Panel {
  static override styles = [panelStyles, meshStyles];

  mesh: MeshData | null = null;
  private readonly list = new RowsList(this);
  private space: Space = "output";
  private register = "";
  private colouring: Colouring = "verdict";
  private parts: Record<Part, boolean> = { solid: true, wire: true, points: true };
  /** Points of large meshes hide them: they are shown once somebody asks for them. */
  private wantsPoints = false;
  private readonly unseen = new Set<string>();
  private which: Tables = "vertices";
  private placed: Placed | null = null;
  private table: Table | null = null;
  private shown: Uint32Array = new Uint32Array(0);
  private cursor = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly finder = new Latest(() => this.requestUpdate());
  /** The address that `finder` was last asked about, and the primitive of its pixel. */
  private pixel: { at: string; primitive?: string | undefined } = { at: "" };
  /** Places that are no draw have no mesh. */
  private about = "";

  get view(): MeshView | null {
    return this.renderRoot.querySelector<MeshView>("pg-mesh-view");
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.resting);
    this.finder.stop();
    this.pixel = { at: "" };
  }

  protected selected(): void {
    const at = placeOfText(selection.address);
    this.find();
    if (at === this.asked) {
      this.follow();
      return;
    }
    this.asked = at;
    const parsed = parseAddress(at);
    this.mesh = null;
    this.about = "";
    if (parsed && parsed.draw === undefined && parsed.event === undefined) {
      this.latest.stop();
      this.latest.error = null;
      this.about = NO_DRAW;
      this.arrange(false);
      return;
    }
    this.requestUpdate();
    void this.latest
      .ask(
        async (signal) => ((await store.isDraw(at)) === false ? null : this.session.meshes.ask(at, signal)),
        (mesh) => {
          this.mesh = mesh;
          if (!mesh) {
            this.about = NO_DRAW;
            this.arrange(false);
            return;
          }
          if (this.which === "emitted" && !mesh.emitted) this.which = "vertices";
          this.cursor = 0;
          this.parts.points = this.wantsPoints || mesh.vertices.count <= MOST_POINTS;
          this.arrange(true);
          this.follow();
        },
      )
      .then(() => this.requestUpdate());
  }

  /** Compute what the view and the table show. */
  private arrange(fit: boolean): void {
    const { mesh } = this;
    this.placed = mesh && without(mesh, place(mesh, this.space, this.register, mesh.targets[0] ?? null), this.unseen);
    this.shown = mesh ? shownTriangles(mesh, this.unseen) : new Uint32Array(0);
    this.table =
      mesh &&
      (this.which === "vertices" ? vertexTable(mesh) : this.which === "emitted" ? emittedTable(mesh) : triangleTable(mesh, this.shown));
    this.requestUpdate();
    if (!mesh || !this.placed) return;
    const colours = cornerColours(mesh, this.placed, this.colouring);
    const shown = { placed: this.placed, colours, ...this.parts, flat: this.space === "output" };
    void this.updateComplete.then(() => {
      void this.view?.show(shown, fit, this.space !== "output");
      this.mark();
    });
  }

  // -- the selection ----------------------------------------------------------------------------------------------------
  /** Look for the primitive of a pixel of a draw. */
  private find(): void {
    const at = selection.run;
    const parsed = parseAddress(at);
    if (at === this.pixel.at) return;
    this.pixel = { at };
    if (!parsed?.pixel || parsed.draw === undefined) {
      this.finder.stop();
      return;
    }
    void this.finder.ask(
      (signal) => askJson<{ primitive: { address: string } | null }>("/api/primitive", "mesh primitive", { at }, signal),
      ({ primitive }) => {
        this.pixel = { at, primitive: primitive?.address };
        this.follow();
      },
    );
  }

  /** The vertex or the primitive that is selected, or the primitive of the pixel that is. */
  private get chosen(): { vertex?: number; primitive?: number } {
    const address = this.pixel.at === selection.run ? (this.pixel.primitive ?? selection.address) : selection.address;
    for (const part of parseAddress(address)?.rest ?? []) {
      const match = /^([vt])(\d+)$/.exec(part);
      if (match) return match[1] === "v" ? { vertex: Number(match[2]) } : { primitive: Number(match[2]) };
    }
    return {};
  }

  /** The triangles of the selected primitive. */
  private trianglesOf(primitive: number): number[] {
    const found: number[] = [];
    this.mesh?.primitive.forEach((number, triangle) => {
      if (number === primitive) found.push(triangle);
    });
    return found;
  }

  /** Bring the selected row into view, and mark it in space. */
  private follow(): void {
    const { vertex, primitive } = this.chosen;
    if (!this.mesh) return;
    if (vertex !== undefined && this.which !== "vertices") this.setTable("vertices");
    if (primitive !== undefined && this.which !== "triangles") this.setTable("triangles");
    const row = vertex ?? (primitive === undefined ? -1 : this.shown.findIndex((one) => this.mesh!.primitive[one] === primitive));
    if (row >= 0) this.goTo(row);
    this.mark();
    this.requestUpdate();
  }

  private mark(): void {
    const { mesh, placed } = this;
    if (!mesh || !placed) return;
    const { vertex, primitive } = this.chosen;
    const triangles = primitive === undefined ? [] : this.trianglesOf(primitive);
    const corners = triangles.length ? triangles.flatMap((one) => Array.from(mesh.corners.subarray(one * 3, one * 3 + 3))) : null;
    // Rows of the places are vertices of addresses, or those that a later program emits.
    const fits = mesh.emitted ? !placed.named : true;
    this.view?.mark(vertex !== undefined && placed.named ? [vertex] : [], fits ? corners : null);
  }

  private picked({ vertex, triangle }: Picked): void {
    const { mesh, placed } = this;
    if (!mesh || !placed) return;
    if (vertex !== undefined && placed.named) selection.select(`${mesh.address}/v${vertex}`);
    else if (vertex !== undefined) {
      if (this.which !== "emitted") this.setTable("emitted");
      this.goTo(vertex);
      this.view?.mark([vertex], null);
    } else if (triangle !== undefined) this.selectTriangle(placed.triangles[triangle]!);
  }

  private selectTriangle(triangle: number): void {
    const number = this.mesh?.primitive[triangle] ?? -1;
    if (number >= 0) {
      selection.select(`${this.mesh!.address}/t${number}`);
      return;
    }
    // Without a number a triangle has no address: it is marked, and no more.
    if (!this.mesh || !this.mesh.primitive.length || triangle >= this.mesh.triangles.count) return;
    if (this.which !== "triangles") this.setTable("triangles");
    this.goTo(this.shown.indexOf(triangle));
    this.view?.mark([], Array.from(this.mesh.corners.subarray(triangle * 3, triangle * 3 + 3)));
  }

  private choose(row: number, repeat: boolean): void {
    clearTimeout(this.resting);
    const { mesh } = this;
    if (!mesh) return;
    const act = (): void => {
      if (this.which === "vertices") selection.select(`${mesh.address}/v${row}`);
      else if (this.which === "triangles") this.selectTriangle(this.shown[row]!);
      else if (this.placed && !this.placed.named) this.view?.mark([row], null);
    };
    if (repeat) this.resting = setTimeout(act, REST_MS);
    else act();
  }

  private goTo(row: number): void {
    if (row < 0) return;
    this.cursor = row;
    this.requestUpdate();
    void this.updateComplete.then(() => this.list.rows.show(row));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.table?.count) return;
    const last = this.table.count - 1;
    const moves: Record<string, number> = {
      ArrowDown: this.cursor + 1,
      ArrowUp: this.cursor - 1,
      PageDown: this.cursor + this.list.rows.page,
      PageUp: this.cursor - this.list.rows.page,
      Home: 0,
      End: last,
      Enter: this.cursor,
    };
    const row = moves[event.key];
    if (row === undefined) return;
    this.goTo(Math.min(last, Math.max(0, row)));
    this.choose(this.cursor, event.repeat);
    event.preventDefault();
    event.stopPropagation();
  }

  private clicked(event: MouseEvent): void {
    const row = (event.target as HTMLElement).closest<HTMLElement>(".row")?.dataset["row"];
    if (row === undefined) return;
    this.goTo(Number(row));
    this.choose(Number(row), false);
  }

  // -- what is shown ----------------------------------------------------------------------------------------------------
  private setSpace(space: Space, register = this.register): void {
    this.space = space;
    this.register = register;
    this.arrange(true);
  }

  private setTable(which: Tables): void {
    this.which = which;
    this.cursor = 0;
    this.arrange(false);
  }

  private toggle(verdict: string): void {
    if (!this.unseen.delete(verdict)) this.unseen.add(verdict);
    this.arrange(false);
  }

  private setPart(part: Part, on: boolean): void {
    this.parts = { ...this.parts, [part]: on };
    if (part === "points") this.wantsPoints = on;
    this.arrange(false);
  }

  protected override render(): TemplateResult {
    const { mesh } = this;
    return html`
      <div class="bar">
        <span class="group" role="radiogroup" aria-label="Space" @keydown=${radioKey}>
          ${SPACES.map((one) => radio(SPACE_TITLES[one][0], one === this.space, () => this.setSpace(one), SPACE_TITLES[one][1]))}
        </span>
        ${this.space === "input" && mesh ? this.registers(mesh) : nothing}
        <span class="group" role="radiogroup" aria-label="Colours of triangles" @keydown=${radioKey}>
          ${COLOURINGS.map((one) => radio(one, one === this.colouring, () => this.setColouring(one), COLOURING_TITLES[one]))}
        </span>
        ${PARTS.map((part) => checkBox(part, this.parts[part], (on) => this.setPart(part, on)))}
        <span class="group">
          <button title="All of it (0)" @click=${() => this.view?.fit()}>fit</button>
          <button title="From the front, as in the picture (1)" @click=${() => this.view?.fit(false)}>front</button>
        </span>
      </div>
      ${this.working(this.finder)} ${this.problem(this.latest.error)} ${this.problem(this.finder.error)}
      ${this.about ? html`<div class="note">${this.about}</div>` : nothing}
      <pg-mesh-view
        ?hidden=${!mesh}
        aria-label="Mesh in space. Arrow keys turn it, with Shift they move it; plus and minus zoom, 0 shows all, 1 the front."
        @pick=${(event: CustomEvent<Picked>) => this.picked(event.detail)}
      ></pg-mesh-view>
      ${mesh ? this.legend(mesh) : nothing} ${mesh ? this.tables(mesh) : nothing}
    `;
  }

  private registers(mesh: MeshData): TemplateResult {
    const inputs = inputsOf(mesh);
    return html`<select aria-label="Input register" @change=${(event: Event) => this.setSpace("input", (event.target as HTMLSelectElement).value)}>
      ${inputs.map(({ name }) => html`<option value=${name} .selected=${name === (this.register || inputs[0]?.name)}>${name}</option>`)}
    </select>`;
  }

  private legend(mesh: MeshData): TemplateResult {
    const names: Tables[] = mesh.emitted ? ["vertices", "emitted", "triangles"] : ["vertices", "triangles"];
    return html`<div class="bar">
      <span class="group" role="radiogroup" aria-label="Table" @keydown=${radioKey}>
        ${names.map((one) => radio(one, one === this.which, () => this.setTable(one), `the ${one} of the draw`))}
      </span>
      ${verdictCounts(mesh).map(
        ([verdict, count]) =>
          html`<button
            class="verdict"
            aria-pressed=${!this.unseen.has(verdict)}
            title=${reasonsOf(mesh, verdict)}
            @click=${() => this.toggle(verdict)}
          >
            <span class="key" data-colour=${cssColour(verdict)}></span>${verdict} ${count.toLocaleString("en")}
          </button>`,
      )}
      <span class="facts grow" title=${mesh.title}>${factsOf(mesh, this.placed)}</span>
    </div>`;
  }

  private tables(mesh: MeshData): TemplateResult {
    const table = this.table;
    if (!table) return html``;
    const { vertex, primitive } = this.chosen;
    const marked = new Set(primitive === undefined || mesh.emitted ? [] : this.trianglesOf(primitive).flatMap((one) => Array.from(mesh.corners.subarray(one * 3, one * 3 + 3))));
    return html`<div class="tables">
      <div class="head" aria-hidden="true"><div class="row">${table.headings.map((one) => cell(one.title, one.width, one.detail))}</div></div>
      <div
        class="scroll"
        role="grid"
        tabindex="0"
        aria-label=${`Table of ${this.which}: ${table.headings.map((one) => one.title).join(", ")}`}
        aria-rowcount=${table.count}
        aria-activedescendant=${`row-${this.cursor}`}
        @scroll=${(event: Event) => this.scrolled(event)}
        @keydown=${(event: KeyboardEvent) => this.key(event)}
        @click=${(event: MouseEvent) => this.clicked(event)}
      >
        ${this.list.render(table.count, (row) => {
          const chosen =
            this.which === "vertices"
              ? row === vertex
              : this.which === "triangles" && primitive !== undefined && mesh.primitive[this.shown[row]!] === primitive;
          const corner = this.which === "vertices" && marked.has(row);
          return html`<div
            id=${`row-${row}`}
            role="row"
            aria-rowindex=${row + 1}
            aria-selected=${chosen}
            class=${`row${chosen ? " chosen" : ""}${corner ? " corner" : ""}${row === this.cursor ? " cursor" : ""}`}
            data-row=${row}
          >
            ${table.cells(row).map((text, column) => cell(text, table.headings[column]!.width, "", "gridcell"))}
          </div>`;
        })}
      </div>
    </div>`;
  }

  private scrolled(event: Event): void {
    const head = this.renderRoot.querySelector(".head");
    if (head) head.scrollLeft = (event.target as HTMLElement).scrollLeft;
  }

  private setColouring(colouring: Colouring): void {
    this.colouring = colouring;
    this.arrange(false);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    // As properties, as the page's security policy forbids style attributes.
    for (const key of this.renderRoot.querySelectorAll<HTMLElement>(".key")) key.style.background = key.dataset["colour"] ?? "";
  }
}

function cell(text: string, width: number, title = "", role?: string): TemplateResult {
  const words = width > 20;
  return html`<span class=${`w${width}${words ? " text" : ""}`} role=${role ?? nothing} title=${title || (words ? text : "") || nothing}>${text}</span>`;
}

function reasonsOf(mesh: MeshData, verdict: string): string {
  const of = mesh.fates.filter((one) => one.verdict === verdict);
  return of.map(({ count, reason, register }) => [count, reason, register && `(${register})`].filter(Boolean).join(" ")).join("\n");
}

/** Counts, and what was left out. */
function factsOf(mesh: MeshData, placed: Placed | null): string {
  const { vertices, triangles, topology } = mesh;
  const found = [`${vertices.count.toLocaleString("en")} vertices`, topology.toLowerCase().replaceAll("_", " ")];
  if (mesh.emitted) found.push(`${mesh.emitted.count.toLocaleString("en")} emitted by ${mesh.emitted.by}`);
  if (vertices.count < vertices.all) found.push(`${(vertices.all - vertices.count).toLocaleString("en")} vertices left out`);
  if (triangles.count < triangles.all) found.push(`${(triangles.all - triangles.count).toLocaleString("en")} triangles left out`);
  if (placed?.left) found.push(`${placed.left.toLocaleString("en")} triangles have no place here`);
  return found.join(" · ");
}

customElements.define("pg-mesh", MeshPanel);
