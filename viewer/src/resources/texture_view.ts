// A texture: one of its levels, layers or slices as a picture, its texels with their bytes and addresses.

import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { CanvasView } from "../picture/canvas_view";
import { shown, type Channel } from "../picture/channels";
import { canvas, canvasOf, channelButtons, paintSwatch, pictureStyles, statusLine, zoomButtons } from "../picture/controls";
import { memoryAt, toFragment } from "../shared/address";
import { askBytes, askJson, RequestError } from "../shared/api";
import { Latest } from "../shared/latest";
import { problem, working } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { showPanel } from "../shared/show_panel";
import { panelStyles } from "../shared/styles";
import { componentText, partText, textureText, type TexelAnswer, type TextureInfo, type TexturePart } from "./api";

type Order = "texels" | "memory";

export class TextureView extends LitElement {
  static override properties = { place: {}, texture: { attribute: false }, wanted: { attribute: false } };
  static override styles = [
    panelStyles,
    pictureStyles,
    css`
      .facts {
        padding: 3px 8px;
        overflow-wrap: anywhere;
        border-bottom: 1px solid var(--line);
      }
      .facts > span,
      details > span {
        margin-right: 12px;
      }
      details {
        display: inline;
      }
      details[open] {
        display: block;
      }
      summary {
        display: inline-block;
        color: var(--dim);
        cursor: default;
      }
      summary::before {
        content: "▸ ";
      }
      details[open] > summary::before {
        content: "▾ ";
      }
      details[open] > summary {
        margin-right: 12px;
      }
      select {
        max-width: 24ch;
      }
    `,
  ];

  declare place: string;
  declare texture: TextureInfo | null;
  /** The texel that a link led to. */
  declare wanted: { part: string; x: number; y: number } | null;
  private level: TexturePart | null = null;
  private order: Order = "texels";
  private channel: Channel = "rgb";
  private pixels: Uint8ClampedArray<ArrayBuffer> | null = null;
  private texel: TexelAnswer | null = null;
  private asked = "";
  readonly picture = new Latest(() => this.requestUpdate());
  private readonly texels = new Latest(() => this.requestUpdate());

  constructor() {
    super();
    this.place = "";
    this.texture = null;
    this.wanted = null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.picture.stop();
    this.texels.stop();
    this.asked = "";
  }

  get view(): CanvasView | null {
    return canvasOf(this);
  }

  protected override willUpdate(changed: PropertyValues): void {
    const texture = this.texture;
    if (changed.has("texture") || changed.has("wanted")) {
      const name = this.wanted?.part ?? this.level?.name;
      this.level = texture?.parts.find((one) => one.name === name) ?? texture?.parts[0] ?? null;
      // A link names a texel by its place in the texture.
      if (this.wanted) this.order = "texels";
    }
  }

  protected override updated(changed: PropertyValues): void {
    paintSwatch(this.renderRoot);
    const key = `${this.place} ${this.texture?.name} ${this.level?.name} ${this.order}`;
    const again = key !== this.asked;
    if (again) this.load(key);
    if ((again || changed.has("wanted")) && this.wanted && this.level?.name === this.wanted.part) {
      this.pick(this.wanted.x, this.wanted.y);
    }
  }

  private load(key: string): void {
    this.asked = key;
    this.texel = null;
    this.texels.stop();
    this.view?.setMark(null);
    const [place, texture, part, order] = [this.place, this.texture, this.level, this.order];
    if (!place || !texture || !part) {
      this.pixels = null;
      this.picture.stop();
      void this.view?.setPixels(null, 1, 1, false);
      return;
    }
    void this.picture.ask(
      async (signal) => {
        const values = { at: place, of: texture.name, part: part.name, order };
        const found = await askBytes("/api/texture", "texture", values, signal);
        if (found.length !== part.width * part.height * 4) throw new RequestError("the texture has another size", place);
        return found;
      },
      (pixels) => {
        this.pixels = pixels;
        void this.paint();
      },
    );
  }

  private async paint(): Promise<void> {
    const { pixels, level: part } = this;
    await this.updateComplete;
    if (!pixels || !part) return;
    await this.view?.setPixels(shown(pixels, this.channel), part.width, part.height, this.channel === "rgba");
  }

  /** Read a texel of what is shown, and mark it. */
  pick(x: number, y: number): void {
    const { place, texture, level: part, order } = this;
    if (!texture || !part) return;
    void this.texels.ask(
      (signal) => askJson<TexelAnswer>("/api/texel", "texel", { at: place, of: texture.name, part: part.name, order, x, y }, signal),
      (texel) => {
        this.texel = texel;
        // The mark is brought into view, for which the picture must have its size.
        void this.updateComplete.then(() => this.view?.updateComplete).then(() => this.view?.setMark([x, y]));
      },
    );
  }

  protected override render(): TemplateResult {
    const { texture, level: part } = this;
    if (!texture) return html``;
    return html`
      <div class="facts mono">
        <span>${texture.bound}</span><span>${textureText(texture)}</span>${this.addressOf(texture)}
        <details>
          <summary>settings</summary>
          ${Object.entries(texture.settings).map(([name, value]) => html`<span><span class="dim">${name}</span> ${String(value)}</span> `)}
        </details>
      </div>
      <div class="bar">
        <select aria-label="Level, layer or slice" @change=${(event: Event) => this.choose(event)}>
          ${texture.parts.map((one) => html`<option value=${one.name} .selected=${one === part}>${partText(one, texture)}</option>`)}
        </select>
        ${texture.more ? html`<span class="dim">${texture.more} more are not listed</span>` : nothing}
        <span class="group" role="radiogroup" aria-label="Order" @keydown=${radioKey}>
          ${radio("texels", this.order === "texels", () => this.setOrder("texels"), "as programs sample it: x to the right, y down")}
          ${radio("memory", this.order === "memory", () => this.setOrder("memory"), "as stored: texels in the order of their addresses")}
        </span>
        ${channelButtons(this.channel, (one) => this.setChannel(one))} ${zoomButtons(() => this.view)}
      </div>
      ${working(this.picture)}
      ${problem(this.picture.error ?? this.texels.error)}
      ${canvas(this, `texture ${texture.bound}. Arrow keys move the texel, Enter reads it, plus and minus zoom.`, (x, y) => this.pick(x, y))}
      ${this.status()}
    `;
  }

  private addressOf(texture: TextureInfo): TemplateResult {
    return texture.address === null ? html`<span class="dim">no memory</span>` : html`<span>${this.link(texture.address, 1, texture.address)}</span>`;
  }

  private link(address: string, size: number, text: string): TemplateResult {
    return html`<a
      href=${toFragment(memoryAt(this.place, parseInt(address, 16), size))}
      title="in Memory"
      @click=${() => showPanel("memory")}
      >${text}</a
    >`;
  }

  private status(): TemplateResult {
    const { level: part, pixels, texel } = this;
    return statusLine(
      this.view,
      part && { width: part.width, height: part.height, pixels },
      texel
        ? html`<span class="texel"><span class="dim">texel</span> ${texel.x},${texel.y} ${texel.color.join(" ")}</span
            ><span class="texel"><span class="dim">value</span> ${texel.value.map(componentText).join("  ")}</span
            ><span class="texel"><span class="dim">bytes</span> ${texel.data} <span class="dim">at</span> ${this.link(texel.address, texel.size, texel.address)}</span>`
        : nothing,
    );
  }

  private choose(event: Event): void {
    const name = (event.target as HTMLSelectElement).value;
    this.wanted = null;
    this.level = this.texture?.parts.find((one) => one.name === name) ?? null;
    this.requestUpdate();
  }

  private setOrder(order: Order): void {
    this.wanted = null;
    this.order = order;
    this.requestUpdate();
  }

  private setChannel(channel: Channel): void {
    this.channel = channel;
    this.requestUpdate();
    void this.paint();
  }
}

customElements.define("pg-texture", TextureView);
