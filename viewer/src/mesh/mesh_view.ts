// The 3D view: a canvas, what the pointer and keys do to the camera, and what is picked. It knows no addresses.

import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { focusFrameStyles } from "../shared/styles";
import type { MeshScene, Palette, Picked, Shown } from "./scene";
import { boundsOf } from "./space";

/** A pointer that moved less than this clicks, more turns. */
const CLICK_PX = 4;
const TURN = 0.008;
const KEY_TURN = Math.PI / 36;
const KEY_PAN = 0.06;
const ZOOM = 1.15;
/** The colour of what is selected: no verdict has it, and it is seen on dark and light. */
const MARK = "#ff40a0";

export class MeshView extends LitElement {
  static override styles = [
    focusFrameStyles,
    css`
      :host {
        display: block;
        position: relative;
        overflow: hidden;
        background: var(--well);
        touch-action: none;
        cursor: grab;
      }
      :host(:active) {
        cursor: grabbing;
      }
      canvas {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
      }
      .none {
        position: absolute;
        inset: 0;
        display: grid;
        place-content: center;
        text-align: center;
        padding: 12px;
        color: var(--dim);
      }
      .probe {
        display: none;
      }
    `,
  ];

  scene: MeshScene | null = null;
  /** Why there is no 3D view. */
  problem = "";
  private opening: Promise<void> | null = null;
  private shown: Shown | null = null;
  private marked: [number[], number[] | null] = [[], null];
  private turned = true;
  /** All of it is shown: it stays so when the view gets another size. */
  private fitted = true;
  private drag: { x: number; y: number; moved: boolean; pan: boolean } | null = null;
  private frame = 0;
  private readonly observer = new ResizeObserver(() => this.resize());
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly onScheme = (): void => this.recolour();
  private readonly theme = new MutationObserver(() => this.recolour());

  constructor() {
    super();
    this.addEventListener("pointerdown", (event) => this.pointerDown(event));
    this.addEventListener("pointermove", (event) => this.pointerMove(event));
    this.addEventListener("pointerup", (event) => this.pointerUp(event));
    this.addEventListener("contextmenu", (event) => event.preventDefault());
    this.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.addEventListener("keydown", (event) => this.key(event));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.tabIndex = 0;
    this.setAttribute("role", "application");
    this.observer.observe(this);
    this.scheme.addEventListener("change", this.onScheme);
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
    this.theme.disconnect();
    this.scheme.removeEventListener("change", this.onScheme);
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  protected override render(): TemplateResult {
    return html`<canvas aria-hidden="true"></canvas><span class="probe"></span>
      ${this.problem ? html`<div class="none" role="note">${this.problem}</div>` : nothing}`;
  }

  /** Show a mesh. fit: look at all of it. turned: a little from the side. */
  async show(shown: Shown, fit: boolean, turned: boolean): Promise<void> {
    this.shown = shown;
    this.turned = turned;
    await (this.opening ??= this.open());
    if (this.shown !== shown || !this.scene) return;
    this.scene.show(shown, this.palette());
    if (fit) this.fit(turned);
    this.scene.mark(...this.marked);
    this.redraw();
  }

  mark(vertices: number[], triangles: number[] | null): void {
    this.marked = [vertices, triangles];
    this.scene?.mark(vertices, triangles);
    this.redraw();
  }

  fit(turned = this.turned): void {
    if (!this.scene || !this.shown) return;
    this.fitted = true;
    this.turned = turned;
    const { middle, half, radius } = boundsOf(this.shown.placed);
    const aspect = this.clientWidth / (this.clientHeight || 1);
    if (this.shown.flat && !turned) this.scene.orbit.fitFlat(middle, [half[0], half[1]], radius, aspect);
    else this.scene.orbit.fit(middle, radius, aspect, turned);
    this.redraw();
  }

  private async open(): Promise<void> {
    await this.updateComplete;
    try {
      const { MeshScene } = await import("./scene");
      this.scene = new MeshScene(this.renderRoot.querySelector("canvas")!);
      this.resize();
    } catch (error) {
      this.problem = `This browser shows no 3D picture (${error instanceof Error ? error.message : String(error)}). The table below has all values.`;
      this.requestUpdate();
    }
  }

  private resize(): void {
    if (!this.scene || !this.clientWidth || !this.clientHeight) return;
    this.scene.resize(this.clientWidth, this.clientHeight);
    if (this.fitted) this.fit();
  }

  private recolour(): void {
    if (!this.scene || !this.shown) return;
    this.scene.show(this.shown, this.palette());
    this.scene.mark(...this.marked);
    this.redraw();
  }

  private palette(): Palette {
    const probe = this.renderRoot.querySelector<HTMLElement>(".probe")!;
    const colour = (name: string): string => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    return {
      ground: colour("--well"),
      volume: colour("--accent"),
      wire: colour("--text"),
      point: colour("--strong"),
      mark: MARK,
    };
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.scene?.render();
    });
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private pointerDown(event: PointerEvent): void {
    this.focus();
    this.setPointerCapture(event.pointerId);
    this.drag = { x: event.clientX, y: event.clientY, moved: false, pan: event.button !== 0 || event.shiftKey };
  }

  private pointerMove(event: PointerEvent): void {
    const { drag, scene } = this;
    if (!drag || !scene) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < CLICK_PX) return;
    drag.moved = true;
    drag.x = event.clientX;
    drag.y = event.clientY;
    if (drag.pan) scene.orbit.pan(dx / this.clientHeight, dy / this.clientHeight);
    else scene.orbit.turn(-dx * TURN, dy * TURN);
    this.moved();
  }

  private pointerUp(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag || drag.moved || event.button !== 0 || !this.scene) return;
    this.pick(this.scene.pick(...this.place(event)));
  }

  private pick(picked: Picked): void {
    if (picked.vertex === undefined && picked.triangle === undefined) return;
    this.dispatchEvent(new CustomEvent<Picked>("pick", { detail: picked }));
  }

  /** Somebody chose another side. */
  private moved(): void {
    this.fitted = false;
    this.redraw();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.scene?.orbit.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM);
    this.moved();
  }

  private key(event: KeyboardEvent): void {
    const orbit = this.scene?.orbit;
    if (!orbit || event.ctrlKey || event.metaKey || event.altKey) return;
    const sides: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    };
    const side = sides[event.key];
    if (side && event.shiftKey) orbit.pan(side[0] * -KEY_PAN, side[1] * KEY_PAN);
    else if (side) orbit.turn(side[0] * KEY_TURN, side[1] * KEY_TURN);
    else if (event.key === "+" || event.key === "=") orbit.zoom(1 / ZOOM);
    else if (event.key === "-") orbit.zoom(ZOOM);
    else if (event.key !== "0" && event.key !== "1") return;
    if (event.key === "0" || event.key === "1") this.fit(event.key === "0" ? this.turned : false);
    else this.moved();
    event.preventDefault();
    event.stopPropagation();
  }
}

customElements.define("pg-mesh-view", MeshView);
