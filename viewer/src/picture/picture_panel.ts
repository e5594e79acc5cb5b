// The panel of pictures: which picture, which channel, before or after, and what a pixel holds.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import type { PictureInfo, PixelAnswer } from "../shared/api";
import { define } from "../shared/define";
import { Latest } from "../shared/latest";
import { Panel } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { panelStyles } from "../shared/styles";
import type { CanvasView } from "./canvas_view";
import { marked, shown, type Channel } from "./channels";
import { canvas, canvasOf, channelButtons, paintSwatch, pictureStyles, pixelIndex, statusLine, zoomButtons } from "./controls";
import { difference, type Difference } from "./difference";
import { Overlays } from "./overlays";
import { addressOf, look, pixelOf, readBefore, readPicture, type Picture } from "./source";

type Mode = "after" | "before" | "difference";

/** Said of a clicked pixel that has no address. */
const UNEXPLAINED = "Why explains screens after a frame, and the first target after a draw";

export class PicturePanel extends Panel {
  static override styles = [
    panelStyles,
    pictureStyles,
    css`
      :host {
        container-type: inline-size;
      }
      /* What the line says of a pixel must not move the picture away below the pointer. */
      @container (max-width: 480px) {
        .status {
          box-sizing: border-box;
          height: 43px;
          overflow-y: auto;
          align-content: start;
        }
      }
      .key {
        display: inline-block;
        width: 10px;
        height: 10px;
        margin-right: 3px;
      }
      .overlays {
        gap: 4px 12px;
      }
      .range {
        display: inline-flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px;
      }
      .range input[type="number"] {
        width: 11ch;
        padding: 1px 2px;
      }
      .range input[type="range"] {
        width: 90px;
        accent-color: var(--accent);
      }
      .title {
        white-space: nowrap;
        overflow: hidden;
        text-overflow: ellipsis;
        color: var(--dim);
      }
    `,
  ];

  private readonly picture = new Latest(() => this.requestUpdate());
  private readonly earlier = new Latest(() => this.requestUpdate());
  private readonly pixel = new Latest(() => this.requestUpdate());
  private readonly overlays = new Overlays(() => this.session, () => this.requestUpdate(), () => void this.paint());
  private place = "";
  private pictures: PictureInfo[] = [];
  private name: string | null = null;
  /** What was chosen by hand, for frames and for what is inside them. */
  private wanted: Record<"frame" | "inside", string | null> = { frame: null, inside: null };
  private mode: Mode = "after";
  private channel: Channel = "rgb";
  private present: Picture | null = null;
  private past: Picture | null = null;
  private found: Difference | null = null;
  private values: PixelAnswer | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.picture.state !== "idle") this.asked = "";
    for (const latest of [this.picture, this.earlier, this.pixel]) latest.stop();
    this.overlays.stop();
  }

  get view(): CanvasView | null {
    return canvasOf(this);
  }

  protected selected(): void {
    const { asker, selection } = this.session;
    const { address } = selection;
    const place = placeOfText(address);
    if (!place) return;
    const screen = parseAddress(address)?.screen;
    if (place === this.asked) {
      if (screen && screen !== this.name && this.pictures.some((one) => one.name === screen)) this.show(screen);
      else this.locate();
      return;
    }
    this.asked = this.place = place;
    this.picture.stop();
    void this.latest
      .ask(
        (signal) => look(asker, place, screen ?? this.wanted[this.where] ?? "", signal),
        ({ pictures, picture }) => {
          this.pictures = pictures;
          if (!picture) {
            this.clear();
            return;
          }
          this.name = picture.info.name;
          this.earlier.stop();
          this.take(place, picture);
        },
      )
      .then(() => {
        // The pictures of another place would look like the answer.
        if (this.latest.error) this.clear();
      });
  }

  private get where(): "frame" | "inside" {
    return this.place.includes("/") ? "inside" : "frame";
  }

  private get info(): PictureInfo | null {
    return this.pictures.find((one) => one.name === this.name) ?? null;
  }

  private clear(): void {
    this.name = null;
    if (this.latest.error) this.pictures = [];
    this.present = this.past = this.found = null;
    this.overlays.show(this.place, null);
    this.picture.stop();
    this.earlier.stop();
    void this.paint();
  }

  private show(name: string): void {
    this.name = name;
    const info = this.info;
    if (!info) return;
    const place = this.place;
    this.earlier.stop();
    void this.picture.ask(
      (signal) => readPicture(this.session.asker, place, info, "picture", signal),
      (picture) => this.take(place, picture),
    );
  }

  private take(place: string, picture: Picture): void {
    this.present = picture;
    this.past = this.found = null;
    this.overlays.show(place, picture.info);
    if (this.mode !== "after") this.readBefore();
    void this.paint();
    this.locate();
  }

  private readBefore(): void {
    const after = this.present;
    if (!after || this.past) return;
    const place = this.place;
    void this.earlier.ask(
      (signal) => readBefore(this.session.asker, place, after.info, signal),
      (before) => {
        this.past = before;
        this.found = difference(before.pixels, after.pixels, after.info.width);
        void this.paint();
      },
    );
  }

  /** The pixels that the mode shows; the picture after the event until the other one is there. */
  private get current(): Picture | null {
    return this.mode === "before" ? (this.past ?? this.present) : this.present;
  }

  private async paint(): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    const picture = this.current;
    if (!picture) {
      await this.view?.setPixels(null, 1, 1, false);
      return;
    }
    const { width, height } = picture.info;
    const found = this.mode === "difference" ? this.found : null;
    const over = this.mode === "after" ? this.overlays.pixels(picture) : null;
    const pixels = over ?? (found ? marked(picture.pixels, found) : shown(picture.pixels, this.channel));
    this.view?.setLines(this.overlays.lines);
    await this.view?.setPixels(pixels, width, height, this.channel === "rgba" && !found && !over);
  }

  /** Mark the selected pixel in the picture, and read its values. */
  private locate(): void {
    const { selection } = this.session;
    const { clicked, run: address } = selection;
    const { info } = this;
    const named = info && pixelOf(info, address);
    // A click may have been in another picture of the place, such as that of depth.
    const mark = !clicked ? named : clicked.of === info?.name ? ([clicked.x, clicked.y] as [number, number]) : null;
    this.view?.setMark(mark);
    const asked = clicked ?? (named && { of: info!.name, x: named[0], y: named[1] });
    if (!asked) this.values = null;
    else if (this.values?.address !== address) {
      void this.askPixel(asked.of, asked.x, asked.y, (answer) => {
        if (selection.run === address) this.values = answer;
      });
    }
    this.requestUpdate();
  }

  private pick(x: number, y: number): void {
    const { info } = this;
    if (!info) return;
    const of = info.name;
    const address = addressOf(info, x, y);
    if (address) this.session.selection.select(address, { of, x, y });
    else void this.askPixel(of, x, y, (answer) => (this.values = answer));
  }

  private askPixel(of: string, x: number, y: number, use: (answer: PixelAnswer) => void): Promise<void> {
    const at = this.place;
    const { asker } = this.session;
    return this.pixel.ask((signal) => asker.json<PixelAnswer>("/api/pixel", "pixel", { at, of, x, y }, signal), use);
  }

  protected override render(): TemplateResult {
    const info = this.info;
    return html`
      <div class="bar">
        <span class="group" role="radiogroup" aria-label="Picture" @keydown=${radioKey}>
          ${this.pictures.map((picture) =>
            radio(picture.name, picture.name === this.name, () => this.want(picture.name), `${picture.title} (${picture.kind})`),
          )}
        </span>
        <span class="title mono grow" title=${info?.title ?? ""}>${info?.title ?? ""}</span>
      </div>
      <div class="bar">
        <span class="group" role="radiogroup" aria-label="Moment" @keydown=${radioKey}>
          ${radio("after", this.mode === "after", () => this.setMode("after"), "after the selected event")}
          ${radio("before", this.mode === "before", () => this.setMode("before"), "after the event before")}
          ${radio("difference", this.mode === "difference", () => this.setMode("difference"), "pixels that the event changed")}
        </span>
        ${channelButtons(this.channel, (one) => this.setChannel(one))} ${zoomButtons(() => this.view)}
      </div>
      ${this.overlays.bar(info)} ${this.working(this.picture, this.earlier, this.pixel, ...this.overlays.latests)}
      ${this.problem(this.latest.error ?? this.picture.error ?? this.pixel.error)}
      ${this.overlays.error ? html`<div class="note" role="status">${this.overlays.error.message}</div>` : nothing}
      ${this.mode !== "after" ? this.problem(this.earlier.error) : nothing}
      ${this.latest.state === "idle" && !this.latest.error && !this.pictures.length && this.place
        ? html`<div class="note">There is no picture here.</div>`
        : nothing}
      ${canvas(
        this,
        `${info?.title ?? "no picture"}. Arrow keys move the pixel, Enter explains it, plus and minus zoom.`,
        (x, y) => this.pick(x, y),
      )}
      ${this.status()}
    `;
  }

  protected override firstUpdated(): void {
    this.view!.yields = this.session.scrolls;
  }

  protected override updated(): void {
    paintSwatch(this.renderRoot);
  }

  private status(): TemplateResult {
    const { current, view } = this;
    const picture = current && { width: current.info.width, height: current.info.height, pixels: current.pixels };
    const found = this.mode === "difference" ? this.found : null;
    return statusLine(
      view,
      picture,
      html`${found
        ? html`<span class="changed">${found.count.toLocaleString("en")} pixels differ</span>${found.box
              ? html`<a href="#" role="button" @click=${(event: Event) => this.showChanges(event)}>show</a>`
              : nothing}`
        : nothing}
      ${this.overlays.status(pixelIndex(view, picture))}
      ${this.values?.values.map(({ name, value }) => html`<span><span class="dim">${name}</span> ${textOf(value)}</span>`)}
      ${this.values && this.values.address === null ? html`<span class="dim">${UNEXPLAINED}</span>` : nothing}`,
    );
  }

  private showChanges(event: Event): void {
    event.preventDefault();
    if (this.found?.box) this.view?.showBox(...this.found.box);
  }

  private want(name: string): void {
    this.wanted[this.where] = name;
    this.show(name);
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    if (mode !== "after") this.readBefore();
    void this.paint();
  }

  private setChannel(channel: Channel): void {
    this.channel = channel;
    void this.paint();
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

define("pg-picture", PicturePanel);
