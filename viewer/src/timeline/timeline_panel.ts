// The timeline of a frame: a track for each unit, an event after the other. A place is the number of an event.

import { css, html, type TemplateResult } from "lit";
import { store } from "../events/store";
import type { EventRow } from "../events/tree";
import { parseAddress } from "../shared/address";
import { askJson, download } from "../shared/api";
import { Panel } from "../shared/panel";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { eventAt, hit, lowerBound, moved, reaching, resized, stretches, whole, xOf, zoomed, type Scale } from "./scale";

interface Track {
  unit: string;
  events: number[];
}

/** As in the style sheet. */
const ROW = 26;
const BAR = 18;
/** The band of passes is as high as a track. */
const PASSES = ROW;
/** How much closer a key or a step of the wheel goes. */
const STEP = 1.5;
/** Colours of the style sheet by the kind of an event; others are --dim. */
const COLOURS: Record<string, string> = {
  draw: "--draw", clear: "--fill", fill: "--fill", transfer: "--old", copy: "--old", upload: "--old", launch: "--good",
  show: "--show",
};

export class TimelinePanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      .tracks {
        flex: 1 1 0;
        min-height: 0;
        overflow-y: auto;
        overflow-x: hidden;
        display: grid;
        grid-template-columns: max-content 1fr;
        grid-auto-rows: max-content;
      }
      .names {
        padding: 0 8px;
        border-right: 1px solid var(--line);
        font: var(--mono);
      }
      .names div {
        white-space: pre;
        height: 26px;
        line-height: 26px;
      }
      .drawing {
        position: relative;
        min-width: 0;
      }
      canvas {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
        touch-action: none;
        cursor: pointer;
      }
      .said {
        min-height: 20px;
        padding: 2px 8px;
        border-top: 1px solid var(--line);
        overflow: hidden;
        white-space: nowrap;
        text-overflow: ellipsis;
        flex: none;
      }
    `,
  ];

  private tracks: Track[] = [];
  private frame = -1;
  private scale: Scale = whole(0, 1);
  private pointed: number | null = null;
  private dragged: { x: number; moved: boolean } | null = null;
  private problemSaving = "";
  private readonly sizes = new ResizeObserver(() => this.resize());
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly themed = new MutationObserver(() => this.paint());
  private readonly repaint = (): void => this.paint();

  override connectedCallback(): void {
    super.connectedCallback();
    this.dark.addEventListener("change", this.repaint);
    this.themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
    this.dark.removeEventListener("change", this.repaint);
    this.themed.disconnect();
  }

  protected selected(): void {
    const frame = parseAddress(selection.address)?.frame;
    if (frame === undefined) return;
    if (String(frame) === this.asked) {
      this.reach();
      return;
    }
    this.asked = String(frame);
    void this.latest.ask(
      async (signal) => {
        const answer = await askJson<{ tracks: Track[] }>("/api/timeline", "timeline", { frame }, signal);
        await store.need(frame);
        return answer.tracks;
      },
      (tracks) => {
        this.tracks = tracks;
        this.frame = frame;
        this.scale = whole(this.count, this.scale.width);
        this.reach();
      },
    );
  }

  private get count(): number {
    return this.tracks.reduce((sum, track) => sum + track.events.length, 0);
  }

  private row(event: number): EventRow | null {
    return store.tree.frames[this.frame]?.loaded?.events[event] ?? null;
  }

  private address(event: number): string {
    const draw = this.row(event)?.draw;
    return draw === null || draw === undefined ? `f${this.frame}/e${event}` : `f${this.frame}/d${draw}`;
  }

  /** The number of the selected event, if it is one of this frame. */
  private get chosen(): number | null {
    const parsed = parseAddress(selection.address);
    if (!parsed || parsed.frame !== this.frame) return null;
    if (parsed.event !== undefined) return parsed.event;
    if (parsed.draw === undefined) return null;
    const at = store.tree.frames[this.frame]?.loaded?.events.findIndex((one) => one.draw === parsed.draw) ?? -1;
    return at < 0 ? null : at;
  }

  private reach(): void {
    const chosen = this.chosen;
    if (chosen !== null) this.scale = reaching(this.scale, chosen);
    this.requestUpdate();
  }

  protected override firstUpdated(): void {
    this.sizes.observe(this.renderRoot.querySelector(".drawing")!);
  }

  protected override updated(): void {
    this.paint();
  }

  private resize(): void {
    const width = this.canvas?.clientWidth ?? 0;
    if (!width) return;
    const all = this.scale.perPixel * this.scale.width >= this.scale.count;
    this.scale = all ? whole(this.count, width) : resized(this.scale, width);
    this.paint();
  }

  private get canvas(): HTMLCanvasElement | null {
    return this.renderRoot.querySelector("canvas");
  }

  protected override render(): TemplateResult {
    const shown = this.pointed ?? this.chosen;
    const row = shown === null ? null : this.row(shown);
    const events = `${this.count} ${this.count === 1 ? "event" : "events"}`;
    const label = `Timeline of frame ${this.frame}: ${this.tracks.map((one) => `${one.unit} ${one.events.length}`).join(", ")}`;
    return html`
      <div class="bar">
        <span class="dim grow" title="Recordings hold no times: a place is the number of an event.">${this.frame < 0 ? "" : `frame ${this.frame}: ${events}, in order`}</span>
        ${this.problemSaving ? html`<span role="alert">not saved: ${this.problemSaving}</span>` : ""}
        <button title="Further away" aria-label="Further away" @click=${() => this.zoom(1 / STEP)}>−</button>
        <button title="Closer" aria-label="Closer" @click=${() => this.zoom(STEP)}>+</button>
        <button @click=${() => this.all()}>All</button>
        <button title="A file for ui.perfetto.dev" ?disabled=${this.frame < 0} @click=${() => this.save()}>Perfetto</button>
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      <div class="tracks">
        <div class="names" aria-hidden="true">
          <div class="dim">passes</div>
          ${this.tracks.map((one) => html`<div>${one.unit}</div>`)}
        </div>
        <div class="drawing">
          <span class="probe" hidden></span>
          <canvas
            tabindex="0"
            role="application"
            aria-label=${label}
            @wheel=${(event: WheelEvent) => this.wheel(event)}
            @pointerdown=${(event: PointerEvent) => this.down(event)}
            @pointermove=${(event: PointerEvent) => this.move(event)}
            @pointerup=${(event: PointerEvent) => this.up(event)}
            @pointerleave=${() => this.point(null)}
            @keydown=${(event: KeyboardEvent) => this.key(event)}
          ></canvas>
        </div>
      </div>
      <div class="said mono" role="status">
        ${row ? html`${this.address(shown!)}  ${row.title}` : ""}
      </div>
    `;
  }

  private paint(): void {
    const canvas = this.canvas;
    if (!canvas?.clientWidth) return;
    const ratio = devicePixelRatio;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d")!;
    const colour = this.colours();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    this.paintPasses(context, colour);
    const chosen = this.chosen;
    this.tracks.forEach((track, index) => {
      const top = PASSES + index * ROW;
      context.fillStyle = colour("--line");
      context.fillRect(0, top, canvas.clientWidth, 1);
      for (const { from, to, first } of stretches(this.scale, track.events)) {
        context.fillStyle = colour(COLOURS[this.row(first)?.kind ?? ""] ?? "--dim");
        context.fillRect(from, top + (ROW - BAR) / 2, to - from - (to - from > 3 ? 1 : 0), BAR);
      }
    });
    if (chosen !== null) {
      const x = xOf(this.scale, chosen);
      const wide = Math.max(1 / this.scale.perPixel, 2);
      context.strokeStyle = colour("--strong");
      context.lineWidth = 2;
      context.strokeRect(x, 1, wide, canvas.clientHeight - 2);
    }
  }

  /** Colours of the style sheet as a canvas takes them: without functions that depend on the scheme. */
  private colours(): (name: string) => string {
    const known = new Map<string, string>();
    const probe = this.renderRoot.querySelector<HTMLElement>(".probe")!;
    return (name) => {
      let found = known.get(name);
      if (found === undefined) {
        probe.style.color = `var(${name})`;
        found = getComputedStyle(probe).color;
        known.set(name, found);
      }
      return found;
    };
  }

  private paintPasses(context: CanvasRenderingContext2D, colour: (name: string) => string): void {
    const loaded = store.tree.frames[this.frame]?.loaded;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    loaded?.passes.forEach((one, index) => {
      const [first, last] = [one.events[0], one.events.at(-1)];
      if (first === undefined || last === undefined) return;
      const from = Math.max(xOf(this.scale, first), 0);
      const to = Math.min(xOf(this.scale, last + 1), this.scale.width);
      if (to <= from) return;
      context.fillStyle = colour(index % 2 ? "--chosen" : "--button");
      context.fillRect(from, 2, to - from - 1, PASSES - 4);
      if (to - from < 30) return;
      context.save();
      context.beginPath();
      context.rect(from, 0, to - from - 4, PASSES);
      context.clip();
      context.fillStyle = colour("--text");
      context.fillText(`${index}: ${one.target || "no target"}`, from + 4, PASSES / 2);
      context.restore();
    });
  }

  // -- what a hand does ------------------------------------------------------------------------------------------
  private trackAt(y: number): Track | null {
    return y < PASSES ? null : (this.tracks[Math.floor((y - PASSES) / ROW)] ?? null);
  }

  private eventOf(event: PointerEvent): number | null {
    const track = this.trackAt(event.offsetY);
    if (track) return hit(this.scale, track.events, event.offsetX);
    const number = Math.floor(eventAt(this.scale, event.offsetX));
    return number >= 0 && number < this.count ? number : null;
  }

  private point(event: number | null): void {
    if (event === this.pointed) return;
    this.pointed = event;
    this.requestUpdate();
  }

  private down(event: PointerEvent): void {
    this.canvas?.setPointerCapture(event.pointerId);
    this.dragged = { x: event.offsetX, moved: false };
  }

  private move(event: PointerEvent): void {
    const drag = this.dragged;
    if (!drag) {
      this.point(this.eventOf(event));
      return;
    }
    if (!drag.moved && Math.abs(event.offsetX - drag.x) < 4) return;
    this.scale = moved(this.scale, drag.x - event.offsetX);
    this.dragged = { x: event.offsetX, moved: true };
    this.paint();
  }

  private up(event: PointerEvent): void {
    const drag = this.dragged;
    this.dragged = null;
    if (!drag || drag.moved) return;
    const found = this.eventOf(event);
    if (found === null) return;
    const pass = event.offsetY < PASSES && store.tree.frames[this.frame]?.loaded;
    const index = pass ? (pass.passOf[found] ?? -1) : -1;
    selection.select(pass && index >= 0 ? pass.passes[index]!.address : this.address(found));
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.scale = event.shiftKey
      ? moved(this.scale, event.deltaY || event.deltaX)
      : zoomed(this.scale, event.deltaY < 0 ? STEP : 1 / STEP, event.offsetX);
    this.paint();
  }

  private zoom(factor: number): void {
    const chosen = this.chosen;
    const x = chosen === null ? this.scale.width / 2 : xOf(this.scale, chosen + 0.5);
    this.scale = zoomed(this.scale, factor, Math.min(Math.max(x, 0), this.scale.width));
    this.paint();
  }

  private all(): void {
    this.scale = whole(this.count, this.scale.width);
    this.paint();
  }

  /** Left and right: events of the unit. Up and down: the event of the next unit that is nearest. */
  private key(event: KeyboardEvent): void {
    const chosen = this.chosen;
    const at = chosen === null ? 0 : this.tracks.findIndex((one) => one.events[lowerBound(one.events, chosen)] === chosen);
    const track = this.tracks[at];
    const across = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (across && track) {
      const index = chosen === null ? 0 : lowerBound(track.events, chosen) + across;
      const next = track.events[index];
      if (next !== undefined) selection.select(this.address(next));
    } else if (down && track) {
      const other = this.tracks[at + down];
      const numbers = other?.events ?? [];
      const next = numbers[Math.min(lowerBound(numbers, chosen ?? 0), numbers.length - 1)];
      if (next !== undefined) selection.select(this.address(next));
    } else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? STEP : 1 / STEP);
    else if (event.key === "0") this.all();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private save(): void {
    this.problemSaving = "";
    void download("/api/perfetto", "perfetto", { frame: this.frame }).catch((error: unknown) => {
      this.problemSaving = error instanceof Error ? error.message : String(error);
      this.requestUpdate();
    });
  }
}

customElements.define("pg-timeline", TimelinePanel);
