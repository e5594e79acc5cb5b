// Shapes of the requests about the command stream (docs/formats/view.md).

import type { WordLine } from "../shared/api";
import { columnsOf, type WordColumns } from "./line";

export interface OpenAnswer {
  ready: boolean;
  rows: number;
  words: number;
  /** Rows that are methods which macros issue. */
  issued: number;
}

/** Which rows of the stream are wanted. */
export interface View {
  /** Only rows in which this is found. */
  text: string;
  changed: boolean;
  issued: boolean;
  /** Only rows of this place; "" for all. */
  within: string;
}

export interface Progress {
  found: number;
  scanned: number;
  of: number;
  done: boolean;
}

export interface PlaceAnswer {
  /** Rows of the place: the first one, and the one after the last. */
  first: number;
  end: number;
  /** The row that is meant, and how many rows of the view come before it. */
  row: number;
  index: number;
  /** The same of a row that was asked for. */
  kept: number | null;
}

export interface FindAnswer extends Progress {
  known: boolean;
  row: number | null;
  index: number | null;
  hit: number | null;
}

/** A row: its number in the stream, whether it is a hit, and what it holds. */
export class StreamRow {
  private texts: WordColumns | null = null;

  constructor(
    readonly row: number,
    readonly hit: boolean,
    readonly line: WordLine,
  ) {}

  /** What it holds as texts. Few of the rows that come are shown, and those several times. */
  get columns(): WordColumns {
    return (this.texts ??= columnsOf(this.line));
  }
}

export interface RowsAnswer {
  columns: string[];
  rows: [number, boolean, WordLine][];
}

/** The parameters of a request about a view. */
export function viewQuery(view: View, find = ""): Record<string, string | number> {
  const found: Record<string, string | number> = { changed: Number(view.changed), issued: Number(view.issued) };
  if (view.text) found["text"] = view.text;
  if (view.within) found["within"] = view.within;
  if (find) found["find"] = find;
  return found;
}
