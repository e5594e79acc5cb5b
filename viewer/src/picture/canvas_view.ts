// A picture in a canvas: zoom, pan, texel grid, marks. It knows pixels and no addresses.

import { LitElement, css, html, type TemplateResult } from "lit";
import { define } from "../shared/define";
import { focusFrameStyles } from "../shared/styles";
import { strokeLines, type Lines } from "./lines";
import { GRID_FROM, Viewport } from "./viewport";

/** A pointer that moved less than this clicks, more drags. */
const CLICK_PX = 4;
/** Wheels of trackpads send many small steps. */
const WHEEL_STEP = 50;

export class CanvasView extends LitElement {
  static override styles = [
    focusFrameStyles,
    css`
      :host {
        display: block;
        position: relative;
        flex: 1 1 0;
        min-height: 0;
        overflow: hidden;
        background: var(--well);
        cursor: crosshair;
        touch-action: none;
      }
      canvas {
        position: absolute;
        left: 0;
        top: 0;
      }
      .source {
        display: none;
      }
    `,
  ];

  readonly viewport = new Viewport();
  /** The pixel below the pointer or moved by keys. */
  cursor: [number, number] | null = null;
  /** The pixel that is framed: the selected one. */
  mark: [number, number] | null = null;
  /** Lines over the picture: x and y of both ends in its pixels, and a colour for some lines at a time. */
  private lines: Lines | null = null;
  /** In a document that scrolls, the wheel zooms while the picture has the focus, or with the control key. */
  yields = false;
  private checkered = false;
  private filled = false;
  private fitted = true;
  private frame = 0;
  private wheel = 0;
  private drag: { x: number; y: number; moved: boolean } | null = null;
  private readonly observer = new ResizeObserver(() => this.resize());

  override connectedCallback(): void {
    super.connectedCallback();
    this.tabIndex = 0;
    this.setAttribute("role", "application");
    this.observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  constructor() {
    super();
    this.addEventListener("pointerdown", (event) => this.pointerDown(event));
    this.addEventListener("pointermove", (event) => this.pointerMove(event));
    this.addEventListener("pointerup", (event) => this.pointerUp(event));
    this.addEventListener("pointerleave", () => this.setCursor(null));
    this.addEventListener("wheel", (event) => this.turned(event), { passive: false });
    this.addEventListener("keydown", (event) => this.key(event));
  }

  protected override render(): TemplateResult {
    return html`<canvas class="source" width="1" height="1"></canvas><canvas class="view" aria-hidden="true"></canvas>`;
  }

  /** Show pixels, as putImageData takes them. The view stays where it is if the size is the same. */
  async setPixels(pixels: Uint8ClampedArray<ArrayBuffer> | null, width: number, height: number, checkered: boolean): Promise<void> {
    await this.updateComplete;
    const source = this.canvas("source");
    this.checkered = checkered;
    this.filled = pixels !== null;
    if (pixels) {
      const resized = width !== this.viewport.imageWidth || height !== this.viewport.imageHeight;
      source.width = width;
      source.height = height;
      source.getContext("2d")!.putImageData(new ImageData(pixels, width, height), 0, 0);
      this.viewport.imageWidth = width;
      this.viewport.imageHeight = height;
      if (resized) this.cursor = null;
      if (resized || this.fitted) this.fit();
    }
    this.redraw();
  }

  /** Frame a pixel, and bring it into view. */
  setMark(mark: [number, number] | null): void {
    const moved = mark && (mark[0] !== this.mark?.[0] || mark[1] !== this.mark?.[1]);
    this.mark = mark;
    if (mark && moved) this.viewport.reveal(...mark);
    this.changed();
  }

  /** Draw lines over the picture. */
  setLines(lines: Lines | null): void {
    this.lines = lines;
    this.redraw();
  }

  /** Show the same part as another view, and the same pixel below the pointer. No event is sent: both would go on. */
  follow(other: CanvasView): void {
    Object.assign(this.viewport, { zoom: other.viewport.zoom, left: other.viewport.left, top: other.viewport.top });
    this.fitted = other.fitted;
    this.cursor = other.cursor;
    this.redraw();
  }

  fit(): void {
    this.viewport.fit();
    this.fitted = true;
    this.changed();
  }

  actual(): void {
    this.viewport.zoomTo(1);
    this.viewport.centre();
    this.fitted = false;
    this.changed();
  }

  step(direction: 1 | -1): void {
    const point = this.cursor ? this.viewport.pointOf(...this.cursor) : undefined;
    this.viewport.step(direction, ...(point ?? []));
    this.fitted = false;
    this.changed();
  }

  /** Show a part of the picture as large as it fits. */
  showBox(left: number, top: number, right: number, bottom: number): void {
    const part = new Viewport(right - left + 3, bottom - top + 3);
    part.width = this.viewport.width;
    part.height = this.viewport.height;
    part.fit();
    this.viewport.zoom = part.zoom;
    this.viewport.left = part.left - (left - 1) * part.zoom;
    this.viewport.top = part.top - (top - 1) * part.zoom;
    this.fitted = false;
    this.changed();
  }

  /** The middle of a pixel in CSS pixels of the box. */
  pointOf(x: number, y: number): [number, number] {
    const [left, top] = this.viewport.pointOf(x, y);
    return [left / devicePixelRatio, top / devicePixelRatio];
  }

  private canvas(name: "source" | "view"): HTMLCanvasElement {
    return this.renderRoot.querySelector<HTMLCanvasElement>(`canvas.${name}`)!;
  }

  private resize(): void {
    const view = this.renderRoot.querySelector<HTMLCanvasElement>("canvas.view");
    if (!view || !this.clientWidth || !this.clientHeight) return;
    view.width = Math.round(this.clientWidth * devicePixelRatio);
    view.height = Math.round(this.clientHeight * devicePixelRatio);
    view.style.width = `${view.width / devicePixelRatio}px`;
    view.style.height = `${view.height / devicePixelRatio}px`;
    this.viewport.width = view.width;
    this.viewport.height = view.height;
    if (this.fitted) this.viewport.fit();
    this.changed();
  }

  private changed(): void {
    this.redraw();
    this.dispatchEvent(new Event("view-change"));
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const view = this.canvas("view");
    const context = view?.getContext("2d");
    if (!context) return;
    const { zoom, left, top, imageWidth, imageHeight } = this.viewport;
    context.clearRect(0, 0, view.width, view.height);
    if (!this.filled) return;
    // Only what can be seen, as browsers treat very large targets badly.
    const x0 = Math.max(0, Math.floor(-left / zoom));
    const y0 = Math.max(0, Math.floor(-top / zoom));
    const x1 = Math.min(imageWidth, Math.ceil((view.width - left) / zoom));
    const y1 = Math.min(imageHeight, Math.ceil((view.height - top) / zoom));
    if (x1 <= x0 || y1 <= y0) return;
    const box = [left + x0 * zoom, top + y0 * zoom, (x1 - x0) * zoom, (y1 - y0) * zoom] as const;
    if (this.checkered) {
      context.fillStyle = checkerboard(context);
      context.fillRect(...box);
    }
    context.imageSmoothingEnabled = zoom < 1;
    context.drawImage(this.canvas("source"), x0, y0, x1 - x0, y1 - y0, ...box);
    if (zoom >= GRID_FROM) {
      context.fillStyle = "rgb(128 128 128 / 45%)";
      for (let x = x0; x <= x1; x += 1) context.fillRect(left + x * zoom, box[1], 1, box[3]);
      for (let y = y0; y <= y1; y += 1) context.fillRect(box[0], top + y * zoom, box[2], 1);
    }
    if (this.lines) strokeLines(context, this.lines, this.viewport, [0, 0, view.width, view.height]);
    if (this.mark) this.frameOf(context, this.mark, "#ffffff", 9);
    if (this.cursor && (zoom >= GRID_FROM || this.matches(":focus-visible"))) {
      this.frameOf(context, this.cursor, "#ffd34d", 5);
    }
  }

  /** A frame around a pixel, not smaller than `least`, with a dark edge so that it is seen on any colour. */
  private frameOf(context: CanvasRenderingContext2D, [x, y]: [number, number], colour: string, least: number): void {
    const [middleX, middleY] = this.viewport.pointOf(x, y);
    const size = Math.max(this.viewport.zoom, least);
    const left = Math.round(middleX - size / 2) - 0.5;
    const top = Math.round(middleY - size / 2) - 0.5;
    context.lineWidth = 3;
    context.strokeStyle = "rgb(0 0 0 / 80%)";
    context.strokeRect(left, top, size + 1, size + 1);
    context.lineWidth = 1;
    context.strokeStyle = colour;
    context.strokeRect(left, top, size + 1, size + 1);
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.getBoundingClientRect();
    return [(event.clientX - box.left) * devicePixelRatio, (event.clientY - box.top) * devicePixelRatio];
  }

  private setCursor(cursor: [number, number] | null): void {
    this.cursor = cursor;
    this.dispatchEvent(new Event("cursor-change"));
    this.redraw();
  }

  private pick(pixel: [number, number]): void {
    this.dispatchEvent(new CustomEvent("pick", { detail: pixel }));
  }

  private pointerDown(event: PointerEvent): void {
    if (event.button > 1) return;
    this.focus();
    this.setPointerCapture(event.pointerId);
    this.drag = { x: event.clientX, y: event.clientY, moved: false };
  }

  private pointerMove(event: PointerEvent): void {
    const drag = this.drag;
    if (!drag) {
      this.setCursor(this.viewport.pixelAt(...this.place(event)));
      return;
    }
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < CLICK_PX) return;
    drag.moved = true;
    drag.x = event.clientX;
    drag.y = event.clientY;
    this.fitted = false;
    this.viewport.pan(dx * devicePixelRatio, dy * devicePixelRatio);
    this.changed();
  }

  private pointerUp(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag || drag.moved || event.button !== 0) return;
    const pixel = this.viewport.pixelAt(...this.place(event));
    if (!pixel) return;
    this.setCursor(pixel);
    this.pick(pixel);
  }

  private turned(event: WheelEvent): void {
    if (this.yields && !event.ctrlKey && !this.matches(":focus")) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : WHEEL_STEP;
    this.wheel += event.deltaY * lines;
    if (Math.abs(this.wheel) < WHEEL_STEP) return;
    this.viewport.step(this.wheel < 0 ? 1 : -1, ...this.place(event));
    this.wheel = 0;
    this.fitted = false;
    this.changed();
    this.setCursor(this.viewport.pixelAt(...this.place(event)));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-far, 0],
      ArrowRight: [far, 0],
      ArrowUp: [0, -far],
      ArrowDown: [0, far],
    };
    const move = moves[event.key];
    if (move) {
      const { imageWidth, imageHeight } = this.viewport;
      const from = this.cursor ?? this.mark ?? [imageWidth >> 1, imageHeight >> 1];
      const x = Math.min(imageWidth - 1, Math.max(0, from[0] + move[0]));
      const y = Math.min(imageHeight - 1, Math.max(0, from[1] + move[1]));
      this.viewport.reveal(x, y);
      this.setCursor([x, y]);
    } else if (event.key === "+" || event.key === "=") this.step(1);
    else if (event.key === "-") this.step(-1);
    else if (event.key === "0") this.fit();
    else if (event.key === "1") this.actual();
    else if (event.key === "Enter" && this.cursor) this.pick(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

let pattern: CanvasPattern | null = null;

function checkerboard(context: CanvasRenderingContext2D): CanvasPattern {
  if (pattern) return pattern;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 16;
  const paint = tile.getContext("2d")!;
  paint.fillStyle = "#999999";
  paint.fillRect(0, 0, 16, 16);
  paint.fillStyle = "#666666";
  paint.fillRect(0, 0, 8, 8);
  paint.fillRect(8, 8, 8, 8);
  return (pattern = context.createPattern(tile, "repeat")!);
}

define("pg-canvas", CanvasView);
