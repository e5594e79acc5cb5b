// The tree of frames, passes and events, as a flat list of rows. Folding and filtering build the list anew, which takes
// milliseconds for 100,000 events; scrolling only reads some of its rows.

import { parseAddress } from "../shared/address";
import type { EventsAnswer } from "../shared/api";
import { COSTS, ofFrame, type Cost, type CostTable, type Finding } from "./marks";

export const FRAME = 0;
export const PASS = 1;
export const EVENT = 2;
/** Stands below an opened frame until its events are there. */
export const WAITING = 3;

export interface EventRow {
  event: number;
  draw: number | null;
  kind: string;
  title: string;
}

interface Pass {
  address: string;
  target: string;
  open: boolean;
  events: number[];
  draws: number;
  /** How many of `events` the filter lets through. */
  found: number;
}

/** Children of a frame: passes by their position in `passes`, single events as -1 - their position in `events`. */
interface Loaded {
  events: EventRow[];
  passOf: Int32Array;
  passes: Pass[];
  children: number[];
  draws: number;
  found: number;
  passed: Uint8Array;
}

interface Frame {
  number: number;
  open: boolean;
  loaded: Loaded | null;
  /** Findings by event, -1 for those of the whole frame; null until they are there. */
  marks: Map<number, Finding[]> | null;
  costs: CostTable | null;
  /** Of each pass, and with -1 of the frame: costs of all its draws. */
  sums: Map<number, Record<Cost, number>>;
}

const WHOLE = -1;

export interface Row {
  type: number;
  level: number;
  address: string;
  title: string;
  kind: string;
  open: boolean | null;
  /** "9 draws, 18 events", or how many of them the filter shows. */
  counts: string;
  /** What was found there, or below it. */
  findings: Finding[];
  costs: Record<Cost, number> | null;
}

export interface Filter {
  text: string;
  drawsOnly: boolean;
  findingsOnly?: boolean;
}

export class EventTree {
  readonly frames: Frame[] = [];
  count = 0;
  /** The most that a single draw of the frames costs whose costs are there. */
  readonly most: Record<Cost, number> = { vertices: 0, primitives: 0, fragments: 0 };
  private types = new Uint8Array(0);
  private frameOf = new Int32Array(0);
  private indexOf = new Int32Array(0);
  private filter: Filter = { text: "", drawsOnly: false };
  private words: string[] = [];

  /** `rest`: work after the last frame, which has the next number. */
  constructor(
    frames: number,
    readonly rest: boolean,
  ) {
    for (let number = 0; number < frames + (rest ? 1 : 0); number += 1) {
      this.frames.push({ number, open: false, loaded: null, marks: null, costs: null, sums: new Map() });
    }
    this.build();
  }

  load(answer: EventsAnswer): void {
    const frame = this.frames[answer.frame];
    if (!frame) return;
    const column = (name: string): number => answer.columns.indexOf(name);
    const [eventAt, drawAt, passAt, kindAt, titleAt] = ["event", "draw", "pass", "kind", "title"].map(column);
    const passes: Pass[] = [];
    const byNumber = new Map<number, number>();
    for (const { address, target } of answer.passes) {
      byNumber.set(parseAddress(address)?.pass ?? passes.length, passes.length);
      passes.push({ address, target, open: true, events: [], draws: 0, found: 0 });
    }
    const events: EventRow[] = [];
    const passOf = new Int32Array(answer.rows.length).fill(-1);
    const children: number[] = [];
    let draws = 0;
    for (const row of answer.rows as unknown[][]) {
      const index = events.length;
      const draw = row[drawAt!] as number | null;
      const pass = byNumber.get((row[passAt!] ?? -1) as number);
      events.push({
        event: row[eventAt!] as number,
        draw,
        kind: String(row[kindAt!]),
        title: String(row[titleAt!]),
      });
      if (draw !== null) draws += 1;
      if (pass === undefined) {
        children.push(-1 - index);
        continue;
      }
      const owner = passes[pass]!;
      if (!owner.events.length) children.push(pass);
      owner.events.push(index);
      if (draw !== null) owner.draws += 1;
      passOf[index] = pass;
    }
    frame.loaded = { events, passOf, passes, children, draws, found: 0, passed: new Uint8Array(events.length) };
    this.sift(frame);
    this.build();
  }

  /** Findings of a frame whose events are there. */
  setMarks(number: number, findings: Finding[]): void {
    const frame = this.frames[number];
    if (!frame?.loaded) return;
    const { events } = frame.loaded;
    const byDraw = new Map(events.map((one, index) => [one.draw, index]));
    const byEvent = new Map(events.map((one, index) => [one.event, index]));
    frame.marks = new Map();
    for (const finding of findings) {
      const parsed = parseAddress(finding.address);
      const index = ofFrame(finding) ? WHOLE : (byDraw.get(parsed?.draw ?? NaN) ?? byEvent.get(parsed?.event ?? NaN) ?? WHOLE);
      frame.marks.set(index, [...(frame.marks.get(index) ?? []), finding]);
    }
    if (this.filter.findingsOnly) this.sift(frame);
    this.build();
  }

  /** Costs of a frame whose events are there. */
  setCosts(number: number, costs: CostTable): void {
    const frame = this.frames[number];
    if (!frame?.loaded) return;
    frame.costs = costs;
    frame.sums = new Map();
    for (const cost of COSTS) for (const value of costs[cost].values()) this.most[cost] = Math.max(this.most[cost], value);
    const add = (key: number, cost: Record<Cost, number>): void => {
      const sum = frame.sums.get(key) ?? { vertices: 0, primitives: 0, fragments: 0 };
      frame.sums.set(key, {
        vertices: sum.vertices + cost.vertices,
        primitives: sum.primitives + cost.primitives,
        fragments: sum.fragments + cost.fragments,
      });
    };
    frame.loaded.events.forEach((_, index) => {
      const cost = this.costOf(frame, index);
      if (!cost) return;
      add(WHOLE, cost);
      const pass = frame.loaded!.passOf[index]!;
      if (pass >= 0) add(pass, cost);
    });
  }

  private costOf(frame: Frame, index: number): Record<Cost, number> | null {
    const event = frame.loaded?.events[index]?.event;
    const vertices = event === undefined ? undefined : frame.costs?.vertices.get(event);
    if (event === undefined || vertices === undefined) return null;
    return {
      vertices,
      primitives: frame.costs!.primitives.get(event) ?? 0,
      fragments: frame.costs!.fragments.get(event) ?? 0,
    };
  }

  /** Findings at an address: those of its event, or of all in its pass or frame. */
  findingsAt(address: string): Finding[] {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    if (!parsed || !frame?.marks) return [];
    if (parsed.pass !== undefined) {
      const pass = this.findPass(frame, parsed.pass);
      return pass === undefined ? [] : this.findingsOfPass(frame, pass);
    }
    if (parsed.draw === undefined && parsed.event === undefined) return [...frame.marks.values()].flat();
    return frame.marks.get(this.findEvent(frame, parsed.draw, parsed.event)) ?? [];
  }

  private findingsOfPass({ marks, loaded }: Frame, pass: number): Finding[] {
    const found: Finding[] = [];
    for (const [index, some] of marks ?? []) if (index >= 0 && loaded!.passOf[index] === pass) found.push(...some);
    return found;
  }

  /** The address with the next finding (or the one before) from an address on, whatever is folded or filtered. */
  nextFinding(address: string, step: 1 | -1): string | null {
    const parsed = parseAddress(address);
    const at = parsed && this.frames[parsed.frame];
    if (!parsed || !at) return null;
    let here = this.findEvent(at, parsed.draw, parsed.event);
    if (here < 0 && parsed.pass !== undefined) {
      here = (at.loaded?.passes[this.findPass(at, parsed.pass) ?? -1]?.events[0] ?? 0) - (step > 0 ? 1 : 0);
    }
    for (let number = parsed.frame; number >= 0 && number < this.frames.length; number += step) {
      const frame = this.frames[number]!;
      const places = [...(frame.marks?.keys() ?? [])].sort((one, other) => (one - other) * step);
      const next = places.find((index) => number !== parsed.frame || (index - here) * step > 0);
      if (next !== undefined) return next < 0 ? `f${number}` : addressOf(number, frame.loaded!.events[next]!);
    }
    return null;
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    this.words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const frame of this.frames) this.sift(frame);
    this.build();
  }

  get filtered(): boolean {
    return this.filter.drawsOnly || this.filter.findingsOnly === true || this.words.length > 0;
  }

  /** How many events the filter shows, of how many, and how many frames are not loaded. */
  get totals(): { found: number; events: number; draws: number; unread: number } {
    const totals = { found: 0, events: 0, draws: 0, unread: 0 };
    for (const { loaded } of this.frames) {
      if (!loaded) {
        totals.unread += 1;
        continue;
      }
      totals.found += loaded.found;
      totals.events += loaded.events.length;
      totals.draws += loaded.draws;
    }
    return totals;
  }

  /** Open or fold a row; returns the number of a frame that has to be loaded. */
  setOpen(row: number, open: boolean): number | null {
    const frame = this.frames[this.frameOf[row]!];
    if (!frame) return null;
    if (this.types[row] === FRAME) frame.open = open;
    else if (this.types[row] === PASS) frame.loaded!.passes[this.indexOf[row]!]!.open = open;
    else return null;
    this.build();
    return open && !frame.loaded ? frame.number : null;
  }

  /** Open the frame and the pass of an address; returns the number of a frame that has to be loaded. */
  reveal(address: string): number | null {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    if (!parsed || !frame) return null;
    const inside = parsed.draw !== undefined || parsed.event !== undefined || parsed.pass !== undefined;
    if (!inside) return null;
    const event = this.findEvent(frame, parsed.draw, parsed.event);
    const pass = event >= 0 ? frame.loaded!.passes[frame.loaded!.passOf[event]!] : undefined;
    if (!frame.open || (pass && !pass.open)) {
      frame.open = true;
      if (pass) pass.open = true;
      this.build();
    }
    return frame.loaded ? null : frame.number;
  }

  /** Whether an address names a draw, or a place in one; null: its event is not known. */
  isDraw(address: string): boolean | null {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    const event = frame?.loaded?.events[this.findEvent(frame, parsed?.draw, parsed?.event)];
    return event ? event.draw !== null : null;
  }

  /** The draw before or after an address; of a frame the last or the first one. Null: its frame has none there. */
  drawBeside(address: string, step: 1 | -1): string | null {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    const events = frame?.loaded?.events;
    if (!frame || !events) return null;
    const event = this.findEvent(frame, parsed.draw, parsed.event);
    for (let at = event >= 0 ? event + step : step > 0 ? 0 : events.length - 1; events[at]; at += step) {
      if (events[at]!.draw !== null) return addressOf(frame.number, events[at]!);
    }
    return null;
  }

  /** The row of an address, or of the nearest thing around it that has one; -1 if there is none. */
  rowOf(address: string): number {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    if (!parsed || !frame) return -1;
    const event = this.findEvent(frame, parsed.draw, parsed.event);
    const pass = event >= 0 ? frame.loaded!.passOf[event]! : (this.findPass(frame, parsed.pass) ?? -1);
    let best = -1;
    for (let row = 0; row < this.count; row += 1) {
      if (this.frameOf[row] !== frame.number) continue;
      const index = this.indexOf[row];
      if (this.types[row] === FRAME) best = row;
      else if (this.types[row] === PASS && pass >= 0 && index === pass) best = row;
      else if (this.types[row] === EVENT && event >= 0 && index === event) return row;
    }
    return best;
  }

  /** The address of the last event of a pass; null where the address names none. */
  lastOf(address: string): string | null {
    const parsed = parseAddress(address);
    const frame = parsed && this.frames[parsed.frame];
    const pass = frame ? this.findPass(frame, parsed.pass) : undefined;
    const last = pass === undefined ? undefined : frame?.loaded?.passes[pass]?.events.at(-1);
    const event = last === undefined ? undefined : frame?.loaded?.events[last];
    return frame && event ? addressOf(frame.number, event) : null;
  }

  row(row: number): Row | null {
    const frame = this.frames[this.frameOf[row]!];
    if (row < 0 || row >= this.count || !frame) return null;
    const index = this.indexOf[row]!;
    const name = `f${frame.number}`;
    const loaded = frame.loaded;
    switch (this.types[row]) {
      case FRAME: {
        const last = this.rest && frame.number === this.frames.length - 1;
        const counts = loaded ? this.counts(loaded.draws, loaded.events.length, loaded.found) : "";
        const title = last ? "after the last frame" : `frame ${frame.number}`;
        const findings = [...(frame.marks?.values() ?? [])].flat();
        const costs = frame.sums.get(WHOLE) ?? null;
        return { type: FRAME, level: 1, address: name, title, kind: "frame", open: frame.open, counts, findings, costs };
      }
      case PASS: {
        const pass = loaded!.passes[index]!;
        const counts = this.counts(pass.draws, pass.events.length, pass.found);
        const findings = frame.marks?.size ? this.findingsOfPass(frame, index) : [];
        const costs = frame.sums.get(index) ?? null;
        const { address, target: title, open } = pass;
        return { type: PASS, level: 2, address, title, kind: "pass", open, counts, findings, costs };
      }
      case EVENT: {
        const event = loaded!.events[index]!;
        const level = loaded!.passOf[index]! >= 0 ? 3 : 2;
        const { kind, title } = event;
        const address = addressOf(frame.number, event);
        const findings = frame.marks?.get(index) ?? [];
        return { type: EVENT, level, address, title, kind, open: null, counts: "", findings, costs: this.costOf(frame, index) };
      }
      default:
        return { type: WAITING, level: 2, address: name, title: "reading events", kind: "", open: null, counts: "", findings: [], costs: null };
    }
  }

  /** The next row from `row` on (by `step`) that is an event; -1 if there is none among the rows. */
  nextEvent(row: number, step: 1 | -1): number {
    for (let next = row + step; next >= 0 && next < this.count; next += step) {
      if (this.types[next] === EVENT) return next;
    }
    return -1;
  }

  /** The frame that `j` or `k` has to open to go on: the nearest one from `row` on that shows no events. */
  nextFolded(row: number, step: 1 | -1): number {
    let next = step > 0 ? row : row - 1;
    for (; next >= 0 && next < this.count; next += step) {
      if (this.types[next] === FRAME && !this.frames[this.frameOf[next]!]!.open) return next;
    }
    return -1;
  }

  /** The row of the frame or pass around a row. */
  parentOf(row: number): number {
    const level = this.row(row)?.level ?? 1;
    for (let parent = row - 1; parent >= 0; parent -= 1) {
      if (this.types[parent] !== EVENT && this.types[parent] !== WAITING && this.types[parent]! < level - 1) return parent;
    }
    return row;
  }

  private counts(draws: number, events: number, found: number): string {
    if (this.filtered) return `${found} of ${events}`;
    return draws ? `${draws} d · ${events} e` : `${events} e`;
  }

  private findEvent(frame: Frame, draw: number | undefined, event: number | undefined): number {
    if (!frame.loaded) return -1;
    if (draw !== undefined) return frame.loaded.events.findIndex((row) => row.draw === draw);
    if (event !== undefined) return frame.loaded.events.findIndex((row) => row.event === event);
    return -1;
  }

  private findPass(frame: Frame, pass: number | undefined): number | undefined {
    if (pass === undefined || !frame.loaded) return undefined;
    const address = `f${frame.number}/p${pass}`;
    const index = frame.loaded.passes.findIndex((one) => one.address === address);
    return index < 0 ? undefined : index;
  }

  private sift(frame: Frame): void {
    const loaded = frame.loaded;
    if (!loaded) return;
    for (const pass of loaded.passes) pass.found = 0;
    loaded.found = 0;
    loaded.events.forEach((event, index) => {
      const passed = this.passes(event) && (!this.filter.findingsOnly || frame.marks?.has(index) === true);
      loaded.passed[index] = passed ? 1 : 0;
      if (!passed) return;
      loaded.found += 1;
      const pass = loaded.passes[loaded.passOf[index]!];
      if (pass) pass.found += 1;
    });
  }

  private passes(event: EventRow): boolean {
    if (this.filter.drawsOnly && event.draw === null) return false;
    if (!this.words.length) return true;
    const text = `${event.kind} ${event.title}`.toLowerCase();
    return this.words.every((word) => text.includes(word));
  }

  private build(): void {
    let most = this.frames.length;
    for (const { open, loaded } of this.frames) {
      if (open) most += loaded ? loaded.events.length + loaded.passes.length : 1;
    }
    this.types = new Uint8Array(most);
    this.frameOf = new Int32Array(most);
    this.indexOf = new Int32Array(most);
    let row = 0;
    const put = (type: number, frame: number, index: number): void => {
      this.types[row] = type;
      this.frameOf[row] = frame;
      this.indexOf[row] = index;
      row += 1;
    };
    for (const frame of this.frames) {
      put(FRAME, frame.number, 0);
      if (!frame.open) continue;
      if (!frame.loaded) {
        put(WAITING, frame.number, 0);
        continue;
      }
      const { children, passes, passed } = frame.loaded;
      for (const child of children) {
        if (child < 0) {
          if (passed[-1 - child]) put(EVENT, frame.number, -1 - child);
          continue;
        }
        const pass = passes[child]!;
        if (this.filtered && !pass.found) continue;
        put(PASS, frame.number, child);
        if (!pass.open) continue;
        for (const event of pass.events) if (passed[event]) put(EVENT, frame.number, event);
      }
    }
    this.count = row;
  }
}

/** Draws have their own numbers; other events are named by the number of the event. */
function addressOf(frame: number, event: EventRow): string {
  return event.draw !== null ? `f${frame}/d${event.draw}` : `f${frame}/e${event.event}`;
}
