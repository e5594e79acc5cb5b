// Memory as a picture: size, format and layout are given by hand.

import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import type { CanvasView } from "../picture/canvas_view";
import { shown, type Channel } from "../picture/channels";
import { canvas, canvasOf, channelButtons, paintSwatch, pictureStyles, statusLine, zoomButtons } from "../picture/controls";
import { askBytes, RequestError } from "../shared/api";
import { Latest } from "../shared/latest";
import { problem, working } from "../shared/panel";
import { panelStyles } from "../shared/styles";
import type { FormatsAnswer } from "./api";

const MOST_SIDE = 4096;

export class MemoryPicture extends LitElement {
  static override properties = { place: {}, address: { attribute: false }, known: { attribute: false } };
  static override styles = [
    panelStyles,
    pictureStyles,
    css`
      input[type="number"] {
        width: 8ch;
        padding: 0 4px;
      }
      select {
        max-width: 24ch;
      }
    `,
  ];

  declare place: string;
  declare address: number;
  declare known: FormatsAnswer | null;
  private width = 256;
  private height = 256;
  private format = "";
  private layout = "";
  private channel: Channel = "rgb";
  private pixels: Uint8ClampedArray<ArrayBuffer> | null = null;
  private size: [number, number] = [0, 0];
  private asked = "";
  readonly latest = new Latest(() => this.requestUpdate());

  constructor() {
    super();
    this.place = "";
    this.address = 0;
    this.known = null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.latest.stop();
    this.asked = "";
  }

  get view(): CanvasView | null {
    return canvasOf(this);
  }

  protected override willUpdate(_changed: PropertyValues): void {
    const known = this.known;
    if (!known) return;
    if (!known.formats.some((one) => one.name === this.format)) this.format = known.first[0];
    if (!known.layouts.includes(this.layout)) this.layout = known.first[1];
  }

  protected override updated(): void {
    paintSwatch(this.renderRoot);
    const { place, address, width, height, format, layout } = this;
    const key = [place, address, width, height, format, layout].join(" ");
    if (!place || !format || key === this.asked) return;
    this.asked = key;
    const values = { at: place, address: `0x${address.toString(16)}`, width, height, format, layout };
    void this.latest.ask(
      async (signal) => {
        const found = await askBytes("/api/memory-picture", "memory-picture", values, signal);
        if (found.length !== width * height * 4) throw new RequestError("the picture has another size", place);
        return found;
      },
      (pixels) => {
        this.pixels = pixels;
        this.size = [width, height];
        void this.paint();
      },
    );
  }

  private async paint(): Promise<void> {
    await this.updateComplete;
    if (this.pixels) await this.view?.setPixels(shown(this.pixels, this.channel), ...this.size, this.channel === "rgba");
  }

  protected override render(): TemplateResult {
    const known = this.known;
    return html`
      <div class="bar">
        <label>width ${this.number("width", this.width, (value) => (this.width = value))}</label>
        <label>height ${this.number("height", this.height, (value) => (this.height = value))}</label>
        <select aria-label="Format" @change=${(event: Event) => this.set(() => (this.format = (event.target as HTMLSelectElement).value))}>
          ${known?.formats.map(({ name, bits }) => html`<option value=${name} .selected=${name === this.format} title=${`${bits} bits a texel`}>${name}</option>`)}
        </select>
        <select aria-label="Layout" @change=${(event: Event) => this.set(() => (this.layout = (event.target as HTMLSelectElement).value))}>
          ${known?.layouts.map((one) => html`<option value=${one} .selected=${one === this.layout}>${one}</option>`)}
        </select>
        ${channelButtons(this.channel, (one) => this.set(() => ((this.channel = one), void this.paint())))} ${zoomButtons(() => this.view)}
      </div>
      ${working(this.latest)}
      ${problem(this.latest.error)}
      ${canvas(this, "memory as a picture. Arrow keys move the pixel, plus and minus zoom.")} ${this.status()}
    `;
  }

  private number(name: string, value: number, set: (value: number) => void): TemplateResult {
    return html`<input
      type="number"
      min="1"
      max=${MOST_SIDE}
      aria-label=${name}
      .value=${String(value)}
      @change=${(event: Event) => {
        const given = Number((event.target as HTMLInputElement).value);
        if (Number.isInteger(given) && given > 0) this.set(() => set(Math.min(given, MOST_SIDE)));
      }}
    />`;
  }

  private set(change: () => void): void {
    change();
    this.requestUpdate();
  }

  private status(): TemplateResult {
    const [width, height] = this.size;
    return statusLine(this.view, width ? { width, height, pixels: this.pixels } : null, nothing);
  }
}

customElements.define("pg-memory-picture", MemoryPicture);
