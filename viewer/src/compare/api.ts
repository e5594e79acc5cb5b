// Shapes of the answers about two sides of the desk.

import type { RegisterChange } from "../shared/api";

export interface Side {
  name: string;
  title: string;
  console: string;
  frames: number;
}

export interface SidesAnswer {
  sides: Side[];
}

export type Verdict = "equal" | "commands" | "state" | "only a" | "only b";

/** Number and draw of the event in A, the same in B, the verdict, the kind, and the titles in A and B. */
export type AlignedRow = [
  number | null,
  number | null,
  number | null,
  number | null,
  Verdict,
  string,
  string | null,
  string | null,
];

export interface Difference {
  level: string;
  a: string | null;
  b: string | null;
  text: string;
}

export interface AlignedAnswer {
  frame: number;
  columns: string[];
  rows: AlignedRow[];
  differences: Difference[];
  left_out: { rows: number; differences: number };
}

export interface DifferencesAnswer {
  frame: number;
  levels: { name: string; first: Difference | null }[];
  notes: string[];
}

export interface UnlikeAnswer {
  frame: number | null;
  /** The frame to go on with; null at the end. */
  next: number | null;
}

export interface RegistersAnswer {
  a: string;
  b: string;
  changes: RegisterChange[];
  left_out: number;
}
