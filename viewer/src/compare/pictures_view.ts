// Pictures of both sides at one place: beside each other, one over the other, or what differs.

import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { askBytes, RequestError, askJson, type PictureInfo } from "../shared/api";
import { Latest } from "../shared/latest";
import { working } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import type { CanvasView } from "../picture/canvas_view";
import { marked, shown, valueOf } from "../picture/channels";
import { pictureStyles } from "../picture/controls";
import { difference, type Difference } from "../picture/difference";
import { addressOf, choose, type Picture } from "../picture/source";
import { MAIN, OTHER } from "./sides";
import { swiped } from "./swipe";

type Mode = "both" | "swipe" | "difference";
const MODES: [Mode, string, string][] = [
  ["both", "A and B", "beside each other"],
  ["swipe", "swipe", "A to the left of a line, B to its right"],
  ["difference", "difference", "pixels that differ"],
];
/** Positions of the slider. */
const STEPS = 1000;

interface Shown {
  a: Picture | null;
  b: Picture | null;
}

export class ComparePictures extends LitElement {
  static override properties = { a: {}, b: {}, version: {} };
  static override styles = [
    panelStyles,
    pictureStyles,
    css`
      :host {
        height: auto;
        min-height: 0;
        flex: 1 1 0;
      }
      .views {
        display: flex;
        flex: 1 1 0;
        min-height: 60px;
        gap: 2px;
        background: var(--line);
      }
      figure {
        margin: 0;
        display: flex;
        flex-direction: column;
        flex: 1 1 0;
        min-width: 0;
      }
      figcaption {
        padding: 1px 8px;
        background: var(--raised);
        white-space: nowrap;
        overflow: hidden;
        text-overflow: ellipsis;
        flex: none;
      }
      input[type="range"] {
        flex: 1 1 80px;
        min-width: 60px;
        accent-color: var(--accent);
      }
      .differs {
        color: var(--old);
      }
      .same {
        color: var(--good);
      }
    `,
  ];

  /** Addresses of the places in A and in B; "" where there is none. */
  declare a: string;
  declare b: string;
  /** Grows when other captures lie on the desk. */
  declare version: number;

  private readonly listing = new Latest(() => this.requestUpdate());
  private names: PictureInfo[][] = [[], []];
  private name: string | null = null;
  private wanted: Record<"frame" | "inside", string | null> = { frame: null, inside: null };
  private mode: Mode = "both";
  private split = STEPS / 2;
  private pictures: Shown = { a: null, b: null };
  private found: Difference | null = null;
  private readonly onSelection = (): void => this.mark();

  constructor() {
    super();
    this.a = this.b = "";
    this.version = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    selection.addEventListener("change", this.onSelection);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    selection.removeEventListener("change", this.onSelection);
    this.listing.stop();
  }

  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has("a") || changed.has("b") || changed.has("version")) this.read();
  }

  private get where(): "frame" | "inside" {
    return (this.a || this.b).includes("/") ? "inside" : "frame";
  }

  private views(): CanvasView[] {
    return [...this.renderRoot.querySelectorAll<CanvasView>("pg-canvas")];
  }

  /** Ask which pictures both have, then for the one that is shown. */
  private read(): void {
    const { a, b } = this;
    void this.listing.ask(
      async (signal) => {
        const names = [await list(a, MAIN, signal), await list(b, OTHER, signal)];
        const chosen = choose(union(names), a || b, this.wanted[this.where]);
        const pictures = chosen ? await this.both(names, chosen.name, signal) : { a: null, b: null };
        return { names, name: chosen?.name ?? null, pictures };
      },
      ({ names, name, pictures }) => {
        this.names = names;
        this.name = name;
        this.use(pictures);
      },
    );
  }

  private async both(names: PictureInfo[][], name: string, signal: AbortSignal): Promise<Shown> {
    const of = (side: number): PictureInfo | undefined => names[side]!.find((one) => one.name === name);
    const [first, second] = [of(0), of(1)];
    return {
      a: first ? await pixels(this.a, MAIN, first, signal) : null,
      b: second ? await pixels(this.b, OTHER, second, signal) : null,
    };
  }

  private use(pictures: Shown): void {
    this.pictures = pictures;
    const { a, b } = pictures;
    this.found = a && b && this.fits ? difference(a.pixels, b.pixels, a.info.width) : null;
    void this.paint();
  }

  /** Whether both are there and have one size. */
  private get fits(): boolean {
    const { a, b } = this.pictures;
    return a !== null && b !== null && a.info.width === b.info.width && a.info.height === b.info.height;
  }

  private async paint(): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    const { a, b } = this.pictures;
    const views = this.views();
    const show = async (view: CanvasView | undefined, of: Picture | null, bytes?: Uint8ClampedArray<ArrayBuffer>): Promise<void> => {
      const { width, height } = of?.info ?? { width: 1, height: 1 };
      await view?.setPixels(of ? (bytes ?? shown(of.pixels, "rgb")) : null, width, height, false);
    };
    if (this.mode === "both") {
      await show(views[0], a);
      await show(views[1], b);
    } else if (!a || !b || !this.found) await show(views[0], a ?? b);
    else if (this.mode === "difference") await show(views[0], b, marked(b.pixels, this.found));
    else await show(views[0], b, swiped(a.pixels, b.pixels, a.info.width, (this.split / STEPS) * a.info.width));
    this.mark();
  }

  /** Frame the pixel that was clicked, in all views. */
  private mark(): void {
    const clicked = selection.clicked;
    for (const view of this.views()) view.setMark(clicked && clicked.of === this.name ? [clicked.x, clicked.y] : null);
  }

  protected override render(): TemplateResult {
    const error = this.listing.error;
    return html`
      <div class="bar">
        <span class="group" role="radiogroup" aria-label="Picture of both" @keydown=${radioKey}>
          ${union(this.names).map((one) => radio(one.name, one.name === this.name, () => this.want(one.name), one.title))}
        </span>
        <span class="group" role="radiogroup" aria-label="View of both" @keydown=${radioKey}>
          ${MODES.map(([mode, text, title]) => radio(text, mode === this.mode, () => this.setMode(mode), title))}
        </span>
        ${this.mode === "swipe"
          ? html`<input
              type="range"
              min="0"
              max=${STEPS}
              .value=${String(this.split)}
              aria-label="Column where B begins"
              @input=${(event: Event) => this.setSplit(Number((event.target as HTMLInputElement).value))}
            />`
          : nothing}
        <span class="group">
          <button title="Zoom out (-)" aria-label="Zoom out" @click=${() => this.views()[0]?.step(-1)}>−</button>
          <button title="Zoom in (+)" aria-label="Zoom in" @click=${() => this.views()[0]?.step(1)}>+</button>
          <button title="All of the picture (0)" @click=${() => this.views()[0]?.fit()}>fit</button>
        </span>
      </div>
      ${working(this.listing)}
      ${error ? html`<div class="problem" role="alert"><strong>${error.message}</strong>${error.hint ? html`<p>${error.hint}</p>` : nothing}</div>` : nothing}
      <div class="views">${this.mode === "both" ? [this.view("A", 0), this.view("B", 1)] : this.view("A and B", 0)}</div>
      ${this.status()}
    `;
  }

  private view(caption: string, index: number): TemplateResult {
    const picture = index ? this.pictures.b : this.pictures.a;
    const other = caption === "A and B" ? (this.pictures.b ?? picture) : picture;
    const title = other?.info.title ?? "no picture";
    return html`<figure>
      <figcaption class="mono" title=${title}><strong>${caption}</strong> <span class="dim">${title}</span></figcaption>
      <pg-canvas
        aria-label=${`${caption}: ${title}. Arrow keys move the pixel, Enter selects it, plus and minus zoom.`}
        @pick=${(event: CustomEvent<[number, number]>) => this.pick(...event.detail)}
        @view-change=${(event: Event) => this.follow(event.target as CanvasView)}
        @cursor-change=${(event: Event) => this.follow(event.target as CanvasView)}
      ></pg-canvas>
    </figure>`;
  }

  private follow(from: CanvasView): void {
    for (const view of this.views()) if (view !== from) view.follow(from);
    this.requestUpdate();
  }

  private status(): TemplateResult {
    const { a, b } = this.pictures;
    const view = this.views()[0];
    const place = view?.cursor ?? view?.mark ?? null;
    const value = (picture: Picture | null): string => {
      if (!picture || !place || place[0] >= picture.info.width || place[1] >= picture.info.height) return "–";
      return valueOf(picture.pixels, place[1] * picture.info.width + place[0]).hex;
    };
    const [first, second] = [value(a), value(b)];
    return html`<div class="status mono">
      ${place
        ? html`<span>${place[0]},${place[1]}</span><span><span class="dim">A</span> ${first}</span
            ><span class=${first === second ? "" : "differs"}><span class="dim">B</span> ${second}</span>`
        : html`<span class="dim">no pixel</span>`}
      ${this.found
        ? html`<span class=${this.found.count ? "differs" : "same"} role="status"
            >${this.found.count ? `${this.found.count.toLocaleString("en")} pixels differ` : "the pictures are equal"}</span
          >`
        : html`<span class="dim" role="status">${a && b ? "the pictures differ in size" : a || b ? `only ${a ? "A" : "B"} has this picture` : ""}</span>`}
      ${this.found?.box
        ? html`<a href="#" role="button" @click=${(event: Event) => this.showChanges(event)}>show</a>`
        : nothing}
    </div>`;
  }

  private showChanges(event: Event): void {
    event.preventDefault();
    const view = this.views()[0];
    if (this.found?.box) view?.showBox(...this.found.box);
  }

  /** Select the pixel in A, whichever view was clicked. */
  private pick(x: number, y: number): void {
    const info = this.names[0]?.find((one) => one.name === this.name);
    const address = info && this.a && x < info.width && y < info.height && addressOf(info, x, y);
    if (address) selection.select(address, { of: info.name, x, y });
  }

  private want(name: string): void {
    this.wanted[this.where] = name;
    this.read();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    void this.paint();
  }

  private setSplit(split: number): void {
    this.split = split;
    void this.paint();
  }
}

/** Pictures that either side has, A's first. */
function union(names: PictureInfo[][]): PictureInfo[] {
  const all = names.flat();
  return all.filter((one, index) => all.findIndex((other) => other.name === one.name) === index);
}

async function list(at: string, side: string, signal: AbortSignal): Promise<PictureInfo[]> {
  if (!at) return [];
  return (await askJson<{ pictures: PictureInfo[] }>("/api/pictures", `compare-list-${side}`, { at, side }, signal)).pictures;
}

async function pixels(at: string, side: string, info: PictureInfo, signal: AbortSignal): Promise<Picture> {
  const found = await askBytes("/api/picture", `compare-picture-${side}`, { at, side, of: info.name }, signal);
  if (found.length !== info.width * info.height * 4) throw new RequestError("the picture is not as large as was said", at);
  return { info, pixels: found };
}

customElements.define("pg-compare-pictures", ComparePictures);
