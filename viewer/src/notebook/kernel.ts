// The way to the kernel of a notebook: requests and answers as messages of the widget (widget_messages.py has the kinds).

import { RequestError } from "../shared/asker";
import type { Model } from "./model";

interface Reply {
  kind: string;
  id?: number;
  status?: number;
  type?: string;
  headers?: Record<string, string>;
}

interface Waiting {
  resolve: (response: Response) => void;
  reject: (error: Error) => void;
}

const PREFIX = "/api/";
/** After how long without an answer the widget says that it waits: a kernel that runs a cell hears nothing meanwhile. */
const PATIENCE_MS = 3000;
const LOST = "the kernel that this widget belongs to does not answer any more";
const RUN_AGAIN = "Run the cell again.";
/** Where the statuses of a response begin and end. */
const [LEAST_STATUS, MOST_STATUS] = [200, 599];

/** Tells of a change of `lost`, `late` and `heard` by an event "change". */
export class Kernel extends EventTarget {
  /** The kernel has ended, or another one has taken its place. */
  lost = false;
  /** An answer is awaited for some time. */
  late = false;
  /** Whether the kernel has ever said anything. */
  heard = false;
  private readonly waiting = new Map<number, Waiting>();
  /** All widgets of a kernel hear each other's answers, so numbers begin somewhere in the first half of a double's. */
  private next = crypto.getRandomValues(new Uint32Array(1))[0]! * 2 ** 20;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly hear = (message: unknown, buffers: unknown): void => this.take(message, buffers);
  private readonly change = (): void => this.changed();

  /** view: a name that no other place has where the widget is shown. */
  constructor(
    private readonly model: Model,
    private readonly view: string,
  ) {
    super();
    model.on("msg:custom", this.hear);
    // Jupyter says so of every widget when its kernel restarts or ends, and when it is there again.
    model.on("comm_live_update", this.change);
    model.on("comm:close", this.change);
    this.say({ kind: "shown", view });
    this.wait();
  }

  /** A transport: see `Asker`. */
  readonly carry = (path: string, query: URLSearchParams, signal: AbortSignal | null): Promise<Response> => {
    signal?.throwIfAborted();
    if (this.lost) return Promise.reject(new RequestError(LOST, null, RUN_AGAIN));
    const id = (this.next += 1);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(id);
        this.say({ kind: "drop", id });
        reject(signal!.reason as Error);
      };
      const over = (): void => signal?.removeEventListener("abort", leave);
      this.waiting.set(id, {
        resolve: (response) => (over(), resolve(response)),
        reject: (error) => (over(), reject(error)),
      });
      signal?.addEventListener("abort", leave, { once: true });
      if (!this.say({ kind: "ask", id, path: path.slice(PREFIX.length), query: Object.fromEntries(query) })) this.lose();
      this.wait();
    });
  };

  /** The widget is no longer shown here. */
  end(): void {
    clearTimeout(this.timer);
    this.say({ kind: "gone", view: this.view });
    this.model.off("msg:custom", this.hear);
    this.model.off("comm_live_update", this.change);
    this.model.off("comm:close", this.change);
    this.fail();
  }

  private take(message: unknown, buffers: unknown): void {
    const reply = message as Reply | null;
    if (typeof reply !== "object" || reply === null) return;
    const waiting = reply.kind === "reply" && typeof reply.id === "number" ? this.waiting.get(reply.id) : undefined;
    if (waiting) this.waiting.delete(reply.id!);
    this.set(false, false, true);
    this.wait();
    if (!waiting) return;
    const status = reply.status ?? 0;
    if (!(status >= LEAST_STATUS && status <= MOST_STATUS)) {
      waiting.reject(new RequestError(`the kernel answers with status ${status}`));
      return;
    }
    const headers = new Headers(reply.headers);
    if (reply.type) headers.set("content-type", reply.type);
    waiting.resolve(new Response(bytesOf(buffers), { status, headers }));
  }

  /** The kernel may be lost, or there again: whoever answers shows it. */
  private changed(): void {
    this.lose();
    this.say({ kind: "shown", view: this.view });
  }

  private lose(): void {
    this.fail();
    clearTimeout(this.timer);
    this.set(true, false, this.heard);
  }

  private fail(): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of waiting) one.reject(new RequestError(LOST, null, RUN_AGAIN));
  }

  /** False: it can't be sent. */
  private say(content: unknown): boolean {
    try {
      this.model.send(content);
      return true;
    } catch {
      return false;
    }
  }

  /** Say that the widget waits, if nothing is heard for some time. */
  private wait(): void {
    clearTimeout(this.timer);
    if (this.heard && !this.waiting.size) {
      this.set(this.lost, false, this.heard);
      return;
    }
    this.timer = setTimeout(() => this.set(this.lost, !this.lost, this.heard), PATIENCE_MS);
  }

  private set(lost: boolean, late: boolean, heard: boolean): void {
    if (lost === this.lost && late === this.late && heard === this.heard) return;
    [this.lost, this.late, this.heard] = [lost, late, heard];
    this.dispatchEvent(new Event("change"));
  }
}

/** The first buffer of a message, which Jupyter gives as a view of a larger one. */
function bytesOf(buffers: unknown): ArrayBuffer | Uint8Array<ArrayBuffer> {
  const first: unknown = Array.isArray(buffers) ? buffers[0] : undefined;
  if (first instanceof ArrayBuffer) return first;
  if (!ArrayBuffer.isView(first)) return new ArrayBuffer(0);
  return new Uint8Array(first.buffer as ArrayBuffer, first.byteOffset, first.byteLength);
}
