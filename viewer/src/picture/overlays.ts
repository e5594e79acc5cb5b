// What can be laid over a picture: overdraw, the wireframe of the draw, and limits for pictures of numbers.

import { html, nothing, type TemplateResult } from "lit";
import type { PictureInfo } from "../shared/api";
import type { RequestError } from "../shared/asker";
import { Latest } from "../shared/latest";
import type { Session } from "../shared/session";
import { cssColour } from "../mesh/colours";
import { ranged, readNumbers, type Limits, type NumberPicture } from "./depth";
import type { Lines } from "./lines";
import { heat, legendOf, OVER, overdrawn, partOf, readOverdraw, type Over, type Overdraw } from "./overdraw";
import type { Picture } from "./source";
import { readWireframe, type Wireframe } from "./wireframe";

const OVER_TITLES: Record<Over, string> = { draw: "of this draw", pass: "of the pass so far", frame: "of the frame so far" };
/** Positions of the sliders. */
const STEPS = 1000;

export class Overlays {
  over: Over | null = null;
  wired = false;
  /** Null: from the least to the greatest number. */
  limits: Limits | null = null;
  overdraw: Overdraw | null = null;
  numbers: NumberPicture | null = null;
  private wireframe: Wireframe | null = null;
  private place = "";
  private info: PictureInfo | null = null;
  readonly latests: Latest[];
  private readonly counting: Latest;
  private readonly wiring: Latest;
  private readonly reading: Latest;

  /** session: of the panel. changed: controls or states of questions changed. paint: the pixels or lines did. */
  constructor(
    private readonly session: () => Session,
    private readonly changed: () => void,
    private readonly paint: () => void,
  ) {
    this.latests = [0, 1, 2].map(() => new Latest(changed));
    [this.counting, this.wiring, this.reading] = this.latests as [Latest, Latest, Latest];
  }

  get error(): RequestError | null {
    if (!this.info) return null;
    return (this.over && this.counting.error) || (this.wired && this.wiring.error) || this.reading.error || null;
  }

  stop(): void {
    for (const latest of this.latests) latest.stop();
  }

  /** Another picture is shown. */
  show(place: string, info: PictureInfo | null): void {
    const same = place === this.place && info?.name === this.info?.name;
    if (same && info) return;
    if (info?.name !== this.info?.name) this.limits = null;
    this.place = place;
    this.info = info;
    this.overdraw = this.wireframe = this.numbers = null;
    for (const latest of this.latests) {
      latest.stop();
      latest.error = null;
    }
    this.ask();
  }

  private ask(): void {
    const { place, info } = this;
    if (!info || info.kind === "screen" || !place) return;
    const { asker, meshes, store } = this.session();
    if (this.over && this.overdraw?.over !== this.over) {
      const over = this.over;
      void this.counting.ask((signal) => readOverdraw(asker, place, over, signal), (found) => this.take(() => (this.overdraw = found)));
    }
    if (this.wired && !this.wireframe) {
      void this.wiring.ask(
        async (signal) => ((await store.isDraw(place)) === false ? null : readWireframe(meshes, place, info.name, signal)),
        (found) => this.take(() => (this.wireframe = found)),
      );
    }
    if (this.limits && !this.numbers && info.kind !== "colour") this.readNumbers();
  }

  private readNumbers(): void {
    const { place, info } = this;
    if (!info || this.reading.state !== "idle") return;
    const { asker } = this.session();
    void this.reading.ask((signal) => readNumbers(asker, place, info.name, signal), (found) => this.take(() => (this.numbers = found)));
  }

  private take(keep: () => void): void {
    keep();
    this.paint();
  }

  /** The pixels of a picture with what lies over it; null if nothing does. */
  pixels(picture: Picture): Uint8ClampedArray<ArrayBuffer> | null {
    const { overdraw, numbers, limits } = this;
    const { width, height } = picture.info;
    if (this.over && overdraw && overdraw.width === width && overdraw.height === height) return overdrawn(picture.pixels, overdraw);
    if (limits && numbers?.name === picture.info.name && numbers.width === width) return ranged(numbers.values, limits);
    return null;
  }

  get lines(): Lines | null {
    if (!this.wired || !this.wireframe) return null;
    const groups = new Map<string, number[]>();
    this.wireframe.verdicts.forEach((verdict, triangle) => {
      const lines = groups.get(verdict) ?? [];
      groups.set(verdict, lines);
      for (let edge = 0; edge < 3; edge += 1) lines.push(triangle * 3 + edge);
    });
    // What is drawn lies on top.
    const order = [...groups].sort(([one]) => (one === "drawn" ? 1 : -1));
    return { ends: this.wireframe.lines, groups: order.map(([verdict, lines]) => ({ colour: cssColour(verdict), lines })) };
  }

  // -- controls ---------------------------------------------------------------------------------------------------------
  bar(info: PictureInfo | null): TemplateResult {
    const target = info !== null && info.kind !== "screen";
    return html`<div class="bar overlays">
      <label title="How many fragments each pixel got, before any test"
        >overdraw
        <select aria-label="Overdraw" ?disabled=${!target} @change=${(event: Event) => this.setOver((event.target as HTMLSelectElement).value)}>
          <option value="" .selected=${!this.over}>off</option>
          ${OVER.map((one) => html`<option value=${one} .selected=${one === this.over} title=${OVER_TITLES[one]}>${one}</option>`)}
        </select></label
      >
      <label title="The edges of the draw's triangles, coloured by what becomes of each"
        ><input
          type="checkbox"
          aria-label="Wireframe"
          ?disabled=${!target}
          .checked=${this.wired}
          @change=${(event: Event) => this.setWired((event.target as HTMLInputElement).checked)}
        />wireframe</label
      >
      ${info && (info.kind === "depth" || info.kind === "stencil") ? this.range() : nothing}
    </div>`;
  }

  private range(): TemplateResult {
    if (!this.numbers) {
      return html`<button title="Choose which numbers are black and white" @click=${() => this.setLimits(this.limits, true)}>range</button>`;
    }
    const [least, greatest] = this.numbers.extent;
    const [low, high] = this.limits ?? this.numbers.extent;
    const whole = Number.isInteger(least) && Number.isInteger(greatest) && greatest > 1;
    // Sliders reach over what is there, and over what was typed.
    const [from, to] = [Math.min(least, low), Math.max(greatest, high)];
    const slider = (name: string, value: number, set: (value: number) => void): TemplateResult => html`<input
      type="range"
      aria-label=${name}
      min="0"
      max=${STEPS}
      .value=${String(Math.round(((value - from) / (to - from || 1)) * STEPS))}
      @input=${(event: Event) => {
        const part = Number((event.target as HTMLInputElement).value) / STEPS;
        const chosen = from + part * (to - from);
        set(whole ? Math.round(chosen) : chosen);
      }}
    />`;
    const field = (name: string, value: number, set: (value: number) => void): TemplateResult => html`<input
      type="number"
      step="any"
      aria-label=${name}
      .value=${String(Number(value.toPrecision(7)))}
      @change=${(event: Event) => {
        const given = (event.target as HTMLInputElement).valueAsNumber;
        if (Number.isFinite(given)) set(given);
      }}
    />`;
    const setLow = (value: number): void => this.setLimits([value, Math.max(value, high)]);
    const setHigh = (value: number): void => this.setLimits([Math.min(value, low), value]);
    return html`<span class="range" role="group" aria-label="Range of numbers"
      >black ${field("Black from", low, setLow)} ${slider("Black from, slider", low, setLow)}
      ${slider("White to, slider", high, setHigh)} ${field("White to", high, setHigh)} white
      <button title=${`From the least to the greatest number that is there: ${least} to ${greatest}`} @click=${() => this.setLimits(this.numbers!.extent)}>
        fit
      </button></span
    >`;
  }

  /** The legend of the overdraw, and what a pixel got. */
  status(index: number | null): TemplateResult | typeof nothing {
    const { overdraw } = this;
    if (!this.over || !overdraw) return this.left();
    const count = index === null ? undefined : overdraw.counts[index];
    return html`<span class="legend" role="img" aria-label=${`${overdraw.fragments} fragments on ${overdraw.pixels} pixels, up to ${overdraw.most} on one`}
        >${overdraw.most
          ? legendOf(overdraw.most).map((one) => html`<span class="key" data-colour=${`rgb(${heat(partOf(one, overdraw.most)).join(" ")})`}></span>${one} `)
          : "no fragments"}</span
      >
      <span class="dim"
        >${totals(overdraw)}</span
      >
      ${count === undefined ? nothing : html`<span class="here">${count} here</span>`} ${this.left()}`;
  }

  private left(): TemplateResult | typeof nothing {
    const left = this.wired ? (this.wireframe?.left ?? 0) : 0;
    return left ? html`<span class="dim">${left.toLocaleString("en")} triangles have no lines</span>` : nothing;
  }

  private setOver(over: string): void {
    this.over = OVER.find((one) => one === over) ?? null;
    if (this.overdraw?.over !== this.over) this.overdraw = null;
    this.ask();
    this.changed();
    this.paint();
  }

  private setWired(wired: boolean): void {
    this.wired = wired;
    this.ask();
    this.changed();
    this.paint();
  }

  private setLimits(limits: Limits | null, read = false): void {
    this.limits = limits;
    if (read) this.readNumbers();
    this.changed();
    this.paint();
  }
}

function totals({ fragments, pixels, draws, left }: Overdraw): string {
  const each = (fragments / (pixels || 1)).toFixed(2);
  const out = left ? `, ${left.toLocaleString("en")} shapes left out` : "";
  return `${fragments.toLocaleString("en")} fragments, ${each} a pixel, ${draws} ${draws === 1 ? "draw" : "draws"}${out}`;
}
