// The panel of a program that runs: its screens, its input, and the commands to run it and to stand.

import { css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { store } from "../events/store";
import { askJson, download, RequestError, Superseded } from "../shared/api";
import { Panel, linked } from "../shared/panel";
import { progress } from "../shared/progress";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { command, type Command, type LiveAnswer, type LiveControls, type LiveStatus } from "./api";
import { Held } from "./held";
import { extraControls, keyTable } from "./controls_view";
import { Messages } from "./messages";
import { Screens } from "./screens";

/** Keys of the panel, where the console has none of that code. */
const COMMANDS: Record<string, "toggle" | "step" | "back"> = { Space: "toggle", Period: "step", Comma: "back" };
/** The name with which a recording is asked for. */
const SAVING = "live-record";
/** As the buttons call them. */
const STATES = { running: "running", standing: "paused", ended: "ended" } as const;
const TEXT_MS = 1000;
const AGAIN_MS = 1000;
const RESIZED_MS = 300;
const WRITTEN_MS = 200;
/** A page that is hidden paints nothing; it goes on reading all the same. */
const HIDDEN_MS = 250;
const SCALES = [0, 1, 2, 3];

/** After the page has painted. */
function painted(): Promise<unknown> {
  const frame = new Promise((done) => requestAnimationFrame(done));
  return Promise.race([frame, new Promise((done) => setTimeout(done, HIDDEN_MS))]);
}

/** Select an address, if the capture has something. Panels are told even if it is the one that was selected. */
function show(address: string): void {
  if (!store.hasFrames) return;
  if (address === selection.address) selection.again();
  else selection.select(address);
}

export class LivePanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      .screens {
        display: flex;
        flex-direction: column;
        align-items: center;
        justify-content: safe center;
        gap: 4px;
        flex: 1 1 0;
        min-height: 80px;
        overflow: auto;
        background: var(--well);
        outline-offset: -2px;
        touch-action: none;
      }
      canvas {
        flex: none;
        background: #000;
        outline: 1px solid var(--edge);
      }
      canvas.touched {
        cursor: crosshair;
      }
      details {
        flex: none;
        border-top: 1px solid var(--line);
        background: var(--raised);
      }
      summary {
        padding: 3px 8px;
        cursor: pointer;
      }
      .fold {
        max-height: 30vh;
        overflow: auto;
        padding: 2px 10px 8px;
        margin: 0;
      }
      pre {
        font: var(--mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
      }
      pre.note {
        flex: none;
        max-height: 40%;
        overflow: auto;
        margin: 0;
        border-top: 1px solid var(--line);
        color: var(--text);
      }
      pre.note.bad {
        border-left: 4px solid var(--bad);
        background: var(--bad-ground);
      }
      .fold p {
        margin: 0 0 6px;
        color: var(--dim);
      }
      .keys {
        columns: 17ch;
        column-gap: 12px;
        margin-bottom: 8px;
      }
      .keys div {
        display: flex;
        gap: 6px;
        align-items: baseline;
        break-inside: avoid;
        padding: 1px 0;
      }
      kbd {
        flex: none;
        min-width: 5ch;
        padding: 0 3px;
        border: 1px solid var(--line);
        border-radius: 3px;
        background: var(--field);
        font: var(--mono);
        text-align: center;
        color: var(--strong);
      }
      .state {
        font-weight: 600;
        color: var(--strong);
      }
      .state.running {
        color: var(--good);
      }
      .state.ended {
        color: var(--bad);
      }
      .record[aria-pressed="true"]::before {
        content: "● " / "";
        color: var(--bad);
      }
      .about {
        margin-left: auto;
        color: var(--dim);
      }
      .advice {
        flex: none;
        padding: 4px 8px;
        border-top: 1px solid var(--line);
        color: var(--text);
      }
      .numbers {
        color: var(--dim);
        white-space: pre;
        font-variant-numeric: tabular-nums;
      }
      .saving {
        flex: none;
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 10px;
        padding: 4px 8px;
        border-bottom: 1px solid var(--line);
        background: var(--raised);
      }
      .saving progress {
        flex: 1 1 120px;
        max-width: 320px;
        accent-color: var(--accent);
      }
      .more {
        padding: 4px 0 8px;
        display: flex;
        flex-wrap: wrap;
        gap: 6px 12px;
        align-items: center;
      }
    `,
  ];

  status: LiveStatus | null = null;
  private controls: LiveControls | null = null;
  private screens: Screens | null = null;
  private held: Held | null = null;
  private stream: AbortController | null = null;
  private failure: RequestError | null = null;
  private text = "";
  private scale = 0;
  private seen = 0;
  private events: string[] = [];
  private saving = false;
  private givenUp = false;
  private step = 1;
  private wrote = 0;
  private reading: AbortController | null = null;
  private resizing: ReturnType<typeof setTimeout> | undefined;
  private sent = "{}";
  private sending = false;
  private readonly sizes = new ResizeObserver(() => this.fit());
  private readonly drop = (): void => this.release();
  private readonly onProgress = (): void => this.requestUpdate();

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("blur", this.drop);
    progress.addEventListener("change", this.onProgress);
    void store.open().then(() => {
      if (this.isConnected && store.capture?.live) void this.follow();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("blur", this.drop);
    progress.removeEventListener("change", this.onProgress);
    this.release();
    this.sizes.disconnect();
    this.stream?.abort();
    this.stream = null;
  }

  /** The program does not depend on the selection. */
  protected selected(): void {}

  // -- what the server says -------------------------------------------------------------------------------------
  /** Read the stream of frames, again and again if it ends, for as long as the panel is there. */
  private async follow(): Promise<void> {
    if (this.stream) return;
    const stream = (this.stream = new AbortController());
    while (!stream.signal.aborted) {
      const reading = (this.reading = new AbortController());
      try {
        await this.open(stream.signal);
        await this.read(AbortSignal.any([stream.signal, reading.signal]));
      } catch (error) {
        if (stream.signal.aborted) return;
        if (reading.signal.aborted) continue;
        this.fail(error instanceof RequestError ? error : new RequestError("the program's pictures do not arrive"));
      }
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }

  private async open(signal: AbortSignal): Promise<void> {
    const answer = await askJson<LiveAnswer>("/api/live", "live", {}, signal);
    this.text = answer.text;
    this.events = answer.events;
    if (!this.controls) {
      this.controls = answer.controls;
      this.held = new Held(answer.controls);
      this.screens = new Screens(answer.controls.displays);
    }
    this.failure = null;
    if (this.status && answer.recording < this.status.recording) this.status = null; // another run of the program
    this.heard(answer);
    await this.updateComplete;
    const host = this.renderRoot.querySelector<HTMLElement>(".screens");
    if (host) {
      host.replaceChildren(...this.screens!.canvases);
      this.sizes.observe(host);
      this.fit();
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    this.step = this.screens!.step;
    const answer = await fetch(`/api/live/frames?step=${this.step}`, { signal, credentials: "same-origin" });
    if (!answer.ok || !answer.body) throw new RequestError("the program's pictures do not arrive", null, await answer.text());
    const messages = new Messages();
    const reader = answer.body.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const found = messages.push(next.value);
      // Each has only the rows that changed since the one before, so all are shown, in their order.
      for (const { status, pixels } of found) if (pixels.length) this.screens?.draw(status.screens, pixels);
      const last = found.at(-1);
      if (!last) continue;
      this.heard(last.status);
      // No faster than the page paints: what is not read is not sent, and what is not sent is not made.
      if (last.pixels.length) await painted();
    }
  }

  /** Ask for pictures of another size, if the page shows them so now. */
  private resized(): void {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => {
      if (this.screens && this.reading && this.screens.step !== this.step) this.reading.abort();
    }, RESIZED_MS);
  }

  private heard(status: LiveStatus): void {
    const before = this.status;
    // Pictures are read once the page has painted, so an answer to a command can be newer.
    if (before && status.recording < before.recording) return;
    this.status = status;
    if (status.recording !== this.seen && status.state !== "running") {
      const first = this.seen === 0;
      this.seen = status.recording;
      // A page that is loaded again has its capture already, and perhaps an address of its own.
      if (!first) void store.reopen().then(() => this.showPlace(status.recording));
    } else if (before && before.state !== "running" && status.state !== "running" && before.at !== status.at) {
      show(status.at);
    }
    if (before?.frame === 0 && status.frame) this.fit();
    this.pollGamepad();
    this.pollText();
    // Numbers that change with each frame need not be written as often.
    const now = performance.now();
    if (before?.state === status.state && status.state === "running" && now - this.wrote < WRITTEN_MS) return;
    this.wrote = now;
    this.requestUpdate();
  }

  /** Show where the program stands, unless a newer recording is being opened: that will do it. */
  private showPlace(recording: number): void {
    if (this.status && this.seen === recording && this.status.state !== "running") show(this.status.at);
  }

  private fail(error: RequestError | null): void {
    this.failure = error;
    this.requestUpdate();
  }

  // -- commands -------------------------------------------------------------------------------------------------
  async tell(name: Command, values: Record<string, string | number> = {}): Promise<void> {
    try {
      const status = await command(name, values);
      this.failure = null;
      this.heard(status);
      if (name !== "run") void this.readText();
    } catch (error) {
      this.fail(error instanceof RequestError ? error : new RequestError(String(error)));
    }
  }

  private toggle(): void {
    void this.tell(this.status?.state === "running" ? "pause" : "run");
  }

  private async save(from: number): Promise<void> {
    this.saving = true;
    this.givenUp = false;
    this.requestUpdate();
    try {
      await download("/api/live/record", SAVING, { from });
      if (from) await this.tell("mark");
      this.fail(null);
    } catch (error) {
      if (!this.givenUp && !(error instanceof Superseded)) this.fail(error instanceof RequestError ? error : new RequestError(String(error)));
    } finally {
      this.saving = false;
      this.requestUpdate();
    }
  }

  /** The program runs again for a recording; that takes as long as it was played. */
  private async giveUp(): Promise<void> {
    this.givenUp = true;
    try {
      await askJson("/api/live/give-up", "");
    } catch (error) {
      this.fail(error instanceof RequestError ? error : new RequestError(String(error)));
    }
  }

  private savingBar(): TemplateResult | typeof nothing {
    if (!this.saving) return nothing;
    const part = progress.part?.panel === SAVING ? progress.part : null;
    const text = part ? `frame ${part.done.toLocaleString("en")} of ${part.of.toLocaleString("en")}` : "";
    return html`<div class="saving" role="status">
      <span>Saving: the program runs again for the recording</span>
      <progress aria-label="Saving" max=${part?.of ?? 1} .value=${part?.done ?? 0}></progress>
      <span class="numbers">${text}</span>
      <button type="button" class="give-up" ?disabled=${this.givenUp} @click=${() => void this.giveUp()}>Cancel</button>
    </div>`;
  }

  private record(): void {
    const { marked, frame } = this.status!;
    if (marked === null) void this.tell("mark", { from: Math.max(0, frame - 1) });
    else void this.save(marked);
  }

  // -- input ----------------------------------------------------------------------------------------------------
  private key(event: KeyboardEvent, down: boolean): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.held) return;
    if (this.held.knows(event.code)) {
      this.held.key(event.code, down);
      this.send();
    } else {
      const what = COMMANDS[event.code];
      if (!what) return;
      if (down && !(event.repeat && what === "toggle")) {
        if (what === "toggle") this.toggle();
        else void this.tell(what);
      }
    }
    // Letters are the program's now, not the page's.
    event.preventDefault();
    event.stopPropagation();
  }

  private touch(event: PointerEvent): void {
    if (!this.held || !this.screens) return;
    if (event.type === "pointerdown" && event.button === 0) {
      const point = this.screens.point(event);
      if (point) (event.target as HTMLElement).setPointerCapture(event.pointerId);
      this.held.touch = point;
    } else if (event.type === "pointermove") {
      if (!this.held.touch) return;
      this.held.touch = this.screens.point(event);
    } else {
      this.held.touch = "";
    }
    this.send();
  }

  private release(): void {
    this.held?.release();
    this.send();
  }

  private pollGamepad(): void {
    const pad = navigator.getGamepads?.().find((one) => one?.connected);
    if (!pad || !this.held || this.status?.state !== "running") return;
    this.held.gamepad(pad.buttons, pad.axes);
    this.send();
  }

  /** Send what is held, if the server has something else. One request at a time: the last state always arrives. */
  private send(): void {
    if (!this.held || this.sending) return;
    const values = this.held.values();
    const wanted = JSON.stringify(values);
    if (wanted === this.sent) return;
    this.sending = true;
    this.sent = wanted;
    void askJson("/api/live/input", "", values)
      .catch((error: unknown) => this.fail(error instanceof RequestError ? error : new RequestError(String(error))))
      .finally(() => {
        this.sending = false;
        this.send();
      });
  }

  // -- text -----------------------------------------------------------------------------------------------------
  private textAt = 0;

  private pollText(): void {
    const folded = !this.renderRoot.querySelector<HTMLDetailsElement>("details.text[open], details.told[open]");
    if (folded || performance.now() - this.textAt < TEXT_MS) return;
    void this.readText();
  }

  private async readText(): Promise<void> {
    this.textAt = performance.now();
    try {
      const { text, events } = await askJson<LiveAnswer>("/api/live", "live-text");
      this.text = text;
      this.events = events;
      this.requestUpdate();
    } catch {
      // A newer question has taken its place, or the connection is gone, which the stream tells.
    }
  }

  // -- what is shown --------------------------------------------------------------------------------------------
  private fit(): void {
    const host = this.renderRoot.querySelector<HTMLElement>(".screens");
    if (host) this.screens?.fit(this.scale, { width: host.clientWidth, height: host.clientHeight });
    this.resized();
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    const host = this.renderRoot.querySelector<HTMLElement>(".screens");
    if (host && this.screens && host.firstElementChild !== this.screens.canvases[0]) {
      host.replaceChildren(...this.screens.canvases);
      this.sizes.observe(host);
    }
  }

  protected override render(): TemplateResult {
    const status = this.status;
    if (!status || !this.controls) return html`${this.problem(this.failure)}<div class="note">the program is not there yet</div>`;
    return html`
      ${this.bar(status)} ${this.savingBar()} ${this.problem(this.failure)}
      <div
        class="screens"
        tabindex="0"
        role="group"
        aria-label="Screens of the program: keyboard and pointer are its input while the focus is here"
        @keydown=${(event: KeyboardEvent) => this.key(event, true)}
        @keyup=${(event: KeyboardEvent) => this.key(event, false)}
        @pointerdown=${(event: PointerEvent) => this.touch(event)}
        @pointermove=${(event: PointerEvent) => this.touch(event)}
        @pointerup=${(event: PointerEvent) => this.touch(event)}
        @pointercancel=${(event: PointerEvent) => this.touch(event)}
        @blur=${() => this.release()}
      ></div>
      ${status.note
        ? html`<pre class="note ${status.state === "ended" && status.note.includes("\n") ? "bad" : ""}" role="status">${linked(status.note)}</pre>`
        : nothing}
      ${status.advice ? html`<div class="note advice" role="status">${status.advice}</div>` : nothing}
      <details class="told" ?hidden=${!this.events.length} @toggle=${() => this.pollText()}>
        <summary>What it told (${this.events.length})</summary>
        <ul class="fold" tabindex="0" aria-label="What the console told">
          ${this.events.map((event) => html`<li>${event}</li>`)}
        </ul>
      </details>
      <details class="text" @toggle=${() => this.pollText()}>
        <summary>Text of the program</summary>
        <pre class="fold" tabindex="0" aria-label="Text of the program">${this.text || "It has printed nothing."}</pre>
      </details>
      <details>
        <summary>Keys and controls</summary>
        <div class="fold">
          ${extraControls(this.controls, this.held!, () => this.send(), (what, values) => void this.tell(what, values))} ${keyTable(this.controls)}
        </div>
      </details>
    `;
  }

  private bar(status: LiveStatus): TemplateResult {
    const running = status.state === "running";
    const ended = status.state === "ended";
    return html`<div class="bar" role="toolbar" aria-label="Program">
      <button type="button" class="run" ?disabled=${ended} title="Run or stand (Space, with the focus on the screens)" @click=${() => this.toggle()}>
        ${running ? "Pause" : "Run"}
      </button>
      <button
        type="button"
        ?disabled=${status.frame === 0 || status.reach === null || status.frame <= status.reach}
        title=${this.reaches(status)}
        @click=${() => void this.tell("back")}>Back</button>
      <button type="button" ?disabled=${ended} title="Run one frame and stand (.)" @click=${() => void this.tell("step")}>Step</button>
      <button
        type="button"
        class="record"
        aria-pressed=${status.marked !== null}
        ?disabled=${this.saving || status.frame === 0}
        title=${status.marked === null ? "Record from the frame that is shown" : "Stand, and save the recording as a .pgc file: the program runs again from there for it"}
        @click=${() => this.record()}
      >
        ${this.saving ? "Saving…" : status.marked === null ? "Record from here" : `Save frame ${status.marked} to now`}
      </button>
      <button type="button" ?disabled=${this.saving || status.frame === 0} title="Stand, and save a recording from the start as a .pgc file: the program runs again for it" @click=${() => void this.save(0)}>
        Save all
      </button>
      <button type="button" title="Start the program again; it stands before its first frame" @click=${() => void this.tell("restart")}>Restart</button>
      <label>
        Size
        <select @change=${(event: Event) => this.setScale(event)}>
          ${SCALES.map((scale) => html`<option value=${scale} .selected=${scale === this.scale}>${scale ? `${scale}×` : "fit"}</option>`)}
        </select>
      </label>
      ${this.about(status)}
      <span class="numbers"
        ><span class="state ${status.state}">${STATES[status.state]}</span>${`  frame ${status.frame.toLocaleString("en")}${running ? `  ${status.fps.toFixed(1)} of ${this.controls!.rate} fps` : ""}`}</span
      >
    </div>`;
  }

  /** What Back does, and how far. */
  private reaches({ reach, frame }: LiveStatus): string {
    if (reach === null) return "This program cannot go back";
    return `Stand a frame earlier (,): frames from ${reach.toLocaleString("en")} on are kept, ${(frame - reach).toLocaleString("en")} before this one`;
  }

  /** How far it goes back, and which frames the other panels have. */
  private about({ state, reach, recorded, frame }: LiveStatus): TemplateResult {
    const frames = reach === null || state === "running" ? "" : ` (${(frame - reach).toLocaleString("en")} frames)`;
    const back = reach === null ? "" : `back to ${reach.toLocaleString("en")}${frames}`;
    const panels = state === "running" ? "pause to look inside" : !recorded ? "" : `f0 of the other panels is frame ${recorded[0].toLocaleString("en")}`;
    return html`<span class="about">${[back, panels].filter(Boolean).join("; ")}</span>`;
  }

  private setScale(event: Event): void {
    this.scale = Number((event.target as HTMLSelectElement).value);
    this.fit();
  }
}

customElements.define("pg-live", LivePanel);
