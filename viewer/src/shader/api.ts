// Shapes of the answers about stepping through a shader: docs/formats/view.md, `programs` and `trace` to `trace_flow`.

/** A part of an address that is to be chosen; a limit is null where it is not known. */
export interface Part {
  letter: string;
  name: string;
  limits: (number | null)[];
}

/** A program whose runs can be stepped through: with parts, those of the address are to be added to it. */
export interface Steppable {
  program: string;
  address: string;
  parts: Part[];
}

export type Kind = "nan" | "infinite";

export interface TraceAnswer {
  address: string;
  program: string;
  lane: string;
  title: string;
  steps: number;
  instructions: number;
  cut: string;
  hung: boolean;
  touched: string[];
  births: Record<Kind, number>;
  first: Partial<Record<Kind, { step: number; text: string }>>;
}

export interface Source {
  file: string;
  line: number;
  text: string;
}

/** number, address, text, hits, first step with a new NaN, with a new infinity, line of source text. */
export type CodeRow = [number, string, string, number, number | null, number | null, Source | null];

/** step, number of the instruction, address, text, what happened. */
export type StepRow = [number, number, string, string, string];

/** register, kind, word, value as text, step that wrote it. */
export type RegisterRow = [string, string, string, string, number | null];

export interface Value {
  register: string;
  kind: string;
  word: string;
  shown: string;
  written?: number | null;
}

export interface StepAnswer {
  step: number;
  registers: RegisterRow[];
  /** From here on missing at the end, after the last step. */
  number?: number;
  address?: string;
  text?: string;
  line?: number | null;
  flow?: string;
  skipped?: boolean;
  lanes?: string | null;
  notes?: string[];
  births?: { kind: Kind; text: string }[];
  reads?: Value[];
  writes?: { before: Value; after: Value }[];
  accesses?: { text: string }[];
  emitted?: string | null;
}

export interface FlowEdge {
  to: number;
  kind: string;
  when: string;
  taken: number;
}

export interface FlowBlock {
  first: number;
  last: number;
  hits: number;
  hangs: boolean;
  address: string;
  end: string;
  last_text: string;
  edges: FlowEdge[];
}

export interface FlowAnswer {
  blocks: FlowBlock[];
  total: number;
  most: number;
}
