// The capture and the events that were read so far. Panels share it, so that each frame is asked for once.

import type { Capture, EventsAnswer } from "../shared/api";
import type { Asker } from "../shared/asker";
import { parseAddress } from "../shared/address";
import { Latest } from "../shared/latest";
import { readCosts, readFindings } from "./marks";
import { EventTree } from "./tree";

export class EventsStore extends EventTarget {
  capture: Capture | null = null;
  tree = new EventTree(0, false);
  readonly opening = new Latest(() => this.tell());
  readonly frames = new Latest(() => this.tell());
  readonly findings = new Latest(() => this.tell());
  readonly costs = new Latest(() => this.tell());
  private queue: { frame: number; done: () => void }[] = [];
  private reading = false;

  private opened: Promise<void> | null = null;

  constructor(private readonly asker: Asker) {
    super();
  }

  /** Ask what the capture is, once. */
  open(): Promise<void> {
    return (this.opened ??= this.opening.ask(
      (signal) => this.asker.json<Capture>("/api/capture", "capture", {}, signal),
      (capture) => {
        this.capture = capture;
        this.tree = new EventTree(capture.frames, capture.rest);
      },
    ));
  }

  /** Whether there is anything that an address can name. */
  get hasFrames(): boolean {
    return this.capture !== null && (this.capture.frames > 0 || this.capture.rest);
  }

  /** Another capture is on the desk: forget the one before. */
  async reopen(): Promise<void> {
    this.opened = null;
    await this.open();
    this.dispatchEvent(new Event("reopen"));
  }

  /** Read the events of a frame, once. Frames are read one after another: they would replace each other's requests. */
  need(frame: number): Promise<void> {
    if (!this.tree.frames[frame] || this.tree.frames[frame].loaded) return Promise.resolve();
    const { promise, resolve } = promiseParts();
    this.queue.push({ frame, done: resolve });
    if (!this.reading) void this.readAll();
    return promise;
  }

  /** Read the events around an address, if there are any. */
  async needFor(address: string): Promise<void> {
    const parsed = parseAddress(address);
    await this.open();
    if (parsed) await this.need(parsed.frame);
  }

  /** Whether an address is that of a draw, or of something in one; null if it names no event that is there. */
  async isDraw(address: string): Promise<boolean | null> {
    await this.needFor(address);
    return this.tree.isDraw(address);
  }

  /** Ask what `check` finds in a frame, once; after what the panels ask. */
  async needFindings(number: number): Promise<void> {
    await this.need(number);
    await this.asker.calm();
    const frame = this.tree.frames[number];
    if (!frame?.loaded || frame.marks || this.findings.state !== "idle" || this.findings.error) return;
    await this.findings.ask((signal) => readFindings(this.asker, number, signal), (found) => this.tree.setMarks(number, found));
  }

  /** Ask what the draws of a frame cost, once. */
  async needCosts(number: number): Promise<void> {
    await this.need(number);
    const frame = this.tree.frames[number];
    if (!frame?.loaded || frame.costs) return;
    await this.costs.ask((signal) => readCosts(this.asker, number, signal), (found) => this.tree.setCosts(number, found));
  }

  private async readAll(): Promise<void> {
    this.reading = true;
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      const { frame, done } = next;
      if (!this.tree.frames[frame]?.loaded) {
        await this.frames.ask(
          (signal) => this.asker.json<EventsAnswer>("/api/events", "events", { frame }, signal),
          (answer) => this.tree.load(answer),
        );
      }
      done();
    }
    this.reading = false;
  }

  private tell(): void {
    this.dispatchEvent(new Event("change"));
  }
}

function promiseParts(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
