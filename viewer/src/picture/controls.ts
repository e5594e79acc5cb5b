// What everything that shows a picture has: channels, zoom, and the value of the pixel below the pointer.

import { css, html, type TemplateResult } from "lit";
import { radio, radioKey } from "../shared/radio";
import type { CanvasView } from "./canvas_view";
import { CHANNELS, type Channel, type valueOf } from "./channels";

const NAMES: Record<Channel, [string, string]> = {
  rgb: ["RGB", "colour, without alpha"],
  rgba: ["RGBA", "colour over a checkerboard, by alpha"],
  r: ["R", "red"],
  g: ["G", "green"],
  b: ["B", "blue"],
  a: ["A", "alpha"],
};

export const pictureStyles = css`
  .group {
    display: inline-flex;
    flex-wrap: wrap;
  }
  .group button {
    border-radius: 0;
    margin-left: -1px;
  }
  .group button:first-child {
    border-radius: 3px 0 0 3px;
    margin-left: 0;
  }
  .group button:last-child {
    border-radius: 0 3px 3px 0;
  }
  .group button[aria-checked="true"] {
    position: relative;
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

/** The pixel below the pointer. `paintSwatch` gives its colour afterwards. */
export function pointerText(value: ReturnType<typeof valueOf> | null, at: [number, number] | null): TemplateResult {
  return html`<span class="pointer"
    >${value && at
      ? html`<span class="swatch" data-colour=${value.hex.slice(0, 7)}></span>${String(at[0]).padStart(4)},${String(at[1]).padEnd(4)} ${value.hex}  ${value.numbers}`
      : html`<span class="dim">no pixel</span>`}</span
  >`;
}

export function paintSwatch(root: ParentNode): void {
  // As a property, as the page's security policy forbids style attributes.
  for (const one of root.querySelectorAll<HTMLElement>(".swatch, .key")) one.style.background = one.dataset["colour"] ?? "";
}

export function zoomText(zoom: number): string {
  return `${zoom < 1 ? `1/${Math.round(1 / zoom)}` : zoom}x`;
}
