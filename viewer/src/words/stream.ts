// The command stream as the page has it: how many rows a view has, the rows in windows, and what is looked for in it.
// Long work is done by the server in slices, and each is asked for: it ends as soon as nobody asks any more.

import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";
import { Paged } from "../shared/paged";
import {
  viewQuery,
  type FindAnswer,
  type OpenAnswer,
  type PlaceAnswer,
  type Progress,
  type RowsAnswer,
  StreamRow,
  type View,
} from "./api";

const BLOCK = 50;
const MOST_BLOCKS = 8;

/** Ask again and again until an answer says that all is done; `heard` is given each answer. */
async function until<T>(ask: () => Promise<T>, done: (answer: T) => boolean, heard: (answer: T) => void = () => {}): Promise<T> {
  for (;;) {
    const answer = await ask();
    heard(answer);
    if (done(answer)) return answer;
  }
}

export class StreamTable {
  /** What the stream has; null until it is read. */
  open: OpenAnswer | null = null;
  view: View = { text: "", changed: false, issued: true, within: "" };
  /** What is looked for in the view. */
  find = "";
  /** How far the rows of the view, and the hits among them, are known. */
  sifted: Progress | null = null;
  hits: Progress | null = null;
  readonly opening: Latest;
  readonly sifting: Latest;
  readonly rowing: Latest;
  readonly placing: Latest;
  readonly finding: Latest;
  readonly counting: Latest;
  readonly rows: Paged<StreamRow>;

  constructor(private readonly changed: () => void) {
    const latest = (): Latest => new Latest(changed);
    this.opening = latest();
    this.sifting = latest();
    // That rows are asked for is not shown, as long as it does not take long: the panel need not be rendered for it.
    this.rowing = new Latest(() => {
      if (this.rowing.state !== "asking") changed();
    });
    this.placing = latest();
    this.finding = latest();
    this.counting = latest();
    this.rows = new Paged<StreamRow>(this.rowing, (first, count, signal) => this.load(first, count, signal), BLOCK, MOST_BLOCKS);
  }

  get all(): Latest[] {
    return [this.opening, this.sifting, this.rowing, this.placing, this.finding, this.counting];
  }

  /** Rows that can be shown: the last block of a view comes when the whole view is known. */
  get count(): number {
    if (!this.sifted) return 0;
    return this.sifted.done ? this.sifted.found : Math.floor(this.sifted.found / BLOCK) * BLOCK;
  }

  /** Have the stream read, once. */
  async read(): Promise<void> {
    if (this.open) return;
    await this.opening.ask(
      (signal) => until(() => askJson<OpenAnswer>("/api/stream_open", "words", {}, signal), (answer) => answer.ready),
      (answer) => {
        this.open = answer;
      },
    );
  }

  /** Show other rows. */
  async show(view: View): Promise<void> {
    this.view = view;
    this.sifted = null;
    this.rows.clear();
    if (!this.open) return;
    if (!view.text && !view.changed && !view.within && (view.issued || !this.open.issued)) {
      const { rows } = this.open;
      this.sifting.stop();
      this.sifted = { found: rows, scanned: rows, of: rows, done: true };
      this.changed();
      return;
    }
    await this.sifting.ask(
      (signal) => this.progress("words-sift", viewQuery(view), signal, (progress) => (this.sifted = progress)),
      () => {},
    );
  }

  /** Look for something else: `hits` counts it, in the background. */
  async look(text: string): Promise<void> {
    this.find = text;
    this.hits = null;
    this.rows.clear();
    this.finding.stop();
    if (!text || !this.open) {
      this.counting.stop();
      this.changed();
      return;
    }
    await this.counting.ask(
      (signal) => this.progress("words-count", viewQuery(this.view, text), signal, (progress) => (this.hits = progress)),
      () => {},
    );
  }

  /** The hit after or before a row; beyond the last one, the first one again. */
  async hit(from: number | null, way: "next" | "previous", use: (found: FindAnswer) => void): Promise<void> {
    const query = { ...viewQuery(this.view, this.find), way };
    const ask = (start: number | null, signal: AbortSignal): Promise<FindAnswer> =>
      until(
        () => askJson<FindAnswer>("/api/stream_find", "words-find", { ...query, ...(start === null ? {} : { from: start }) }, signal),
        (answer) => answer.known,
      );
    await this.finding.ask(async (signal) => {
      const answer = await ask(from, signal);
      return answer.row === null && from !== null ? ask(null, signal) : answer;
    }, use);
  }

  /** Where a place is, perhaps one of its words, and where a row is. */
  async place(at: string, line: number | null, row: number | null, use: (found: PlaceAnswer) => void): Promise<void> {
    const query = { ...viewQuery(this.view), at, ...(line === null ? {} : { line }), ...(row === null ? {} : { row }) };
    await this.placing.ask((signal) => askJson<PlaceAnswer>("/api/stream_place", "words-place", query, signal), use);
  }

  /** What a row belongs to, and its number among the words of that. */
  async eventOf(row: number, use: (found: { at: string; line: number }) => void): Promise<void> {
    await this.placing.ask((signal) => askJson<{ at: string; line: number }>("/api/stream_event", "words-place", { row }, signal), use);
  }

  /** Forget everything: it is another capture. */
  forget(): void {
    this.stop();
    this.open = this.sifted = this.hits = null;
    this.rows.clear();
  }

  stop(): void {
    for (const latest of this.all) latest.stop();
  }

  private async load(first: number, count: number, signal: AbortSignal): Promise<StreamRow[]> {
    const query = { ...viewQuery(this.view, this.find), first, count };
    const answer = await askJson<RowsAnswer>("/api/stream", "words-rows", query, signal);
    return answer.rows.map(([row, hit, line]) => new StreamRow(row, hit, line));
  }

  private progress(
    panel: string,
    query: Record<string, string | number>,
    signal: AbortSignal,
    set: (progress: Progress) => void,
  ): Promise<Progress> {
    return until(
      () => askJson<Progress>("/api/stream_sift", panel, query, signal),
      (answer) => answer.done,
      (answer) => {
        set(answer);
        this.changed();
      },
    );
  }
}
