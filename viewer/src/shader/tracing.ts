// One trace that is stepped through: where it is, what the server says about the step, breakpoints, and the ways to go.

import { askJson, RequestError, Superseded } from "../shared/api";
import { Latest } from "../shared/latest";
import { Paged } from "../shared/paged";
import { selection } from "../shared/selection";
import type { CodeRow, FlowAnswer, Kind, StepAnswer, StepRow, TraceAnswer } from "./api";
import { Newest } from "./newest";

/** How long a step must stay before the address names it: the history of a browser takes few changes in a second. */
const REST_MS = 250;
/** Instructions that one search can name. */
const MOST_NUMBERS = 512;
/** Rows of a block of the listing and of the steps: a request asks for one block. */
const BLOCK = 250;
const MOST_BLOCKS = 1;
/** What the server says when a request of this page itself took the place of another: it is asked again. */
const TRIES = 3;

type Way = "next" | "previous";

/** Breakpoints of the programs of this page, by draw and program: they stay when another vertex is traced. */
const kept = new Map<string, Set<number>>();
const MOST_KEPT = 200;

async function ask<T>(path: string, panel: string, values: Record<string, string | number>, signal?: AbortSignal): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await askJson<T>(path, panel, values, signal);
    } catch (error) {
      if (!(error instanceof Superseded) || left <= 1) throw error;
    }
  }
}

export class Tracing {
  /** The step that is wanted; `answer` may still be that of another. */
  step = 0;
  answer: StepAnswer | null = null;
  flow: FlowAnswer | null = null;
  /** The instruction that was picked by hand; null: the one of the step. */
  picked: number | null = null;
  readonly breakpoints: Set<number>;
  readonly code: Paged<CodeRow>;
  readonly steps: Paged<StepRow>;
  private failure: RequestError | null = null;
  private readonly reading: Newest<number, StepAnswer>;
  private readonly search: Newest<Record<string, string | number>, { step: number | null }>;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flowAsked = false;
  private stopped = false;

  /** moved: is called whenever there is something new to show. */
  constructor(
    readonly trace: TraceAnswer,
    private readonly moved: () => void,
  ) {
    const at = trace.address;
    const key = `${at.replace(/\/[^/]*$/, "")} ${trace.program}`;
    if (kept.size > MOST_KEPT) kept.clear();
    this.breakpoints = kept.get(key) ?? new Set();
    kept.set(key, this.breakpoints);
    const rows = <T>(path: string, panel: string): Paged<T> => {
      const load = async (first: number, count: number, signal: AbortSignal): Promise<T[]> =>
        (await askJson<{ rows: T[] }>(path, panel, { at, first, count }, signal)).rows;
      return new Paged<T>(new Latest(moved), load, BLOCK, MOST_BLOCKS);
    };
    this.code = rows<CodeRow>("/api/trace_code", "shader code");
    this.steps = rows<StepRow>("/api/trace_steps", "shader steps");
    const failed = (error: unknown): void => this.fail(error);
    this.reading = new Newest(
      (step, signal) => ask<StepAnswer>("/api/trace_step", "shader step", { at, step }, signal),
      (answer) => {
        this.answer = answer;
        this.failure = null;
        moved();
      },
      failed,
    );
    this.search = new Newest(
      (values, signal) => ask<{ step: number | null }>("/api/trace_find", "shader search", { at, ...values }, signal),
      ({ step }, values) => {
        if (step !== null) this.go(step);
        else if (values["of"] === "visit") this.go(values["way"] === "next" ? this.trace.steps : 0);
        else this.moved();
      },
      failed,
    );
  }

  get error(): RequestError | null {
    return this.failure ?? this.code.error ?? this.steps.error;
  }

  /** The number of the instruction that comes next; null at the end. */
  get current(): number | null {
    return this.answer?.number ?? null;
  }

  /** Go to a step; the last one is the end, after the last instruction. say: whether the address shall name it. */
  go(step: number, say = true): void {
    const wanted = Math.max(0, Math.min(this.trace.steps, step));
    if (wanted === this.step && this.answer) return;
    this.step = wanted;
    this.reading.want(wanted);
    this.moved();
    clearTimeout(this.timer);
    if (say) this.timer = setTimeout(() => this.say(), REST_MS);
  }

  /** Go on, or back, to a breakpoint; without breakpoints to the picked instruction, or to that of this step. */
  toVisit(way: Way, numbers?: readonly number[]): void {
    const own = this.picked ?? this.current;
    const wanted = numbers ?? (this.breakpoints.size ? [...this.breakpoints] : own === null ? [] : [own]);
    if (!wanted.length) return;
    this.search.want({ step: this.step, way, of: "visit", numbers: wanted.slice(0, MOST_NUMBERS).join(",") });
  }

  toBirth(way: Way, kind: Kind | "special"): void {
    this.search.want({ step: this.step, way, of: kind });
  }

  /** Set or remove a breakpoint. */
  toggle(number: number): void {
    if (!this.breakpoints.delete(number) && this.breakpoints.size < MOST_NUMBERS) this.breakpoints.add(number);
    this.moved();
  }

  pick(number: number | null): void {
    this.picked = number;
    this.moved();
  }

  /** The control flow, which is asked for when it is first shown. */
  needFlow(): void {
    if (this.flowAsked) return;
    this.flowAsked = true;
    ask<FlowAnswer>("/api/trace_flow", "shader flow", { at: this.trace.address }).then(
      (answer) => {
        this.flow = answer;
        this.moved();
      },
      (error: unknown) => this.fail(error),
    );
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.reading.stop();
    this.search.stop();
    this.code.clear();
    this.steps.clear();
  }

  private say(): void {
    // Only while the run is still what is selected.
    if (!this.stopped && selection.run === this.trace.address) selection.refine(`${this.trace.address}/s${this.step}`);
  }

  private fail(error: unknown): void {
    if (this.stopped || error instanceof Superseded || (error instanceof DOMException && error.name === "AbortError")) return;
    this.failure = error instanceof RequestError ? error : new RequestError(String(error));
    this.moved();
  }
}
