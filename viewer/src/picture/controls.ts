// What everything that shows a picture has: channels, zoom, and the value of the pixel below the pointer.

import { css, html, type LitElement, type TemplateResult } from "lit";
import { radio, radioKey } from "../shared/radio";
import "./canvas_view";
import type { CanvasView } from "./canvas_view";
import { CHANNELS, valueOf, type Channel } from "./channels";

const NAMES: Record<Channel, [string, string]> = {
  rgb: ["RGB", "colour, without alpha"],
  rgba: ["RGBA", "colour over a checkerboard, by alpha"],
  r: ["R", "red"],
  g: ["G", "green"],
  b: ["B", "blue"],
  a: ["A", "alpha"],
};

export const pictureStyles = css`
  .area {
    display: flex;
    flex-direction: column;
    flex: 1 1 0;
    min-height: 0;
  }
  .status {
    display: flex;
    flex-wrap: wrap;
    gap: 0 16px;
    padding: 3px 8px;
    min-height: 24px;
    line-height: 18px;
    border-top: 1px solid var(--line);
    background: var(--raised);
    flex: none;
    white-space: pre;
  }
  .status .end {
    margin-left: auto;
  }
  .swatch {
    display: inline-block;
    width: 12px;
    height: 12px;
    vertical-align: -1px;
    border: 1px solid var(--edge);
    margin-right: 6px;
  }
`;

export function channelButtons(chosen: Channel, set: (channel: Channel) => void): TemplateResult {
  return html`<span class="group" role="radiogroup" aria-label="Channels" @keydown=${radioKey}>
    ${CHANNELS.map((one) => radio(NAMES[one][0], one === chosen, () => set(one), NAMES[one][1]))}
  </span>`;
}

export function zoomButtons(view: () => CanvasView | null): TemplateResult {
  return html`<span class="group">
    <button title="Zoom out (-)" aria-label="Zoom out" @click=${() => view()?.step(-1)}>−</button>
    <button title="Zoom in (+)" aria-label="Zoom in" @click=${() => view()?.step(1)}>+</button>
    <button title="All of the picture (0)" @click=${() => view()?.fit()}>fit</button>
    <button title="One pixel for each texel (1)" @click=${() => view()?.actual()}>1:1</button>
  </span>`;
}

/** The view of an element that shows `canvas`. */
export function canvasOf(host: LitElement): CanvasView | null {
  return host.renderRoot.querySelector<CanvasView>("pg-canvas");
}

/** The picture itself. pick: is given the pixel that is clicked. */
export function canvas(host: LitElement, label: string, pick: (x: number, y: number) => void = () => {}): TemplateResult {
  return html`<div class="area">
    <pg-canvas
      aria-label=${label}
      @pick=${(event: CustomEvent<[number, number]>) => pick(...event.detail)}
      @cursor-change=${() => host.requestUpdate()}
      @view-change=${() => host.requestUpdate()}
    ></pg-canvas>
  </div>`;
}

export interface Sized {
  width: number;
  height: number;
  /** Null until they have come. */
  pixels: Uint8ClampedArray | null;
}

/** The index of the pixel below the pointer, or else of the one that is marked; null if the picture has no such pixel. */
export function pixelIndex(view: CanvasView | null, picture: Sized | null): number | null {
  const at = view?.cursor ?? view?.mark;
  if (!at || !picture?.pixels || at[0] >= picture.width || at[1] >= picture.height) return null;
  return at[1] * picture.width + at[0];
}

/** The line below a picture: a pixel and its value, then what the panel knows of it, then size and zoom. */
export function statusLine(view: CanvasView | null, picture: Sized | null, more: unknown): TemplateResult {
  const index = pixelIndex(view, picture);
  const value = index === null ? null : valueOf(picture!.pixels!, index);
  return html`<div class="status mono">
    ${pointerText(value, view?.cursor ?? view?.mark ?? null)} ${more}
    <span class="end dim">${picture ? `${picture.width} x ${picture.height}  ` : ""}${zoomText(view?.viewport.zoom ?? 1)}</span>
  </div>`;
}

/** `paintSwatch` gives the swatch its colour afterwards. */
function pointerText(value: ReturnType<typeof valueOf> | null, at: [number, number] | null): TemplateResult {
  return html`<span class="pointer"
    >${value && at
      ? html`<span class="swatch" data-colour=${value.hex.slice(0, 7)}></span>${String(at[0]).padStart(4)},${String(at[1]).padEnd(4)} ${value.hex}  ${value.numbers}`
      : html`<span class="dim">no pixel</span>`}</span
  >`;
}

function zoomText(zoom: number): string {
  return `${zoom < 1 ? `1/${Math.round(1 / zoom)}` : zoom}x`;
}

export function paintSwatch(root: ParentNode): void {
  // As a property, as the page's security policy forbids style attributes.
  for (const one of root.querySelectorAll<HTMLElement>(".swatch, .key")) one.style.background = one.dataset["colour"] ?? "";
}
