// Shapes of the answers about choices and about registers that can be forced.

import type { Side } from "../compare/api";

export interface Choice {
  name: string;
  default: string;
  /** The value in the capture of the command line. */
  chosen: string;
  alternatives: string[];
  doc: string;
  sources: { value: string; source: string }[];
}

export interface ForcibleField {
  name: string;
  type: string;
  unit: string;
  doc: string;
  /** Its value after the event that was asked about, if that is known. */
  value: string | null;
  /** Names of values. */
  values: string[];
}

export interface Forcible {
  name: string;
  doc: string;
  /** Why it cannot be forced; "" if it can. */
  refusal: string;
  word: string | null;
  fields: ForcibleField[];
}

export interface ForcibleAnswer {
  registers: Forcible[];
  more: boolean;
}

export interface WhatIfAnswer {
  set: string[];
  force: string[];
  sides: Side[];
}
