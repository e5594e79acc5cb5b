// A line of words in columns. Lines are objects of `pocketgpu decode --json`.

import type { WordLine } from "../shared/api";

export interface WordColumns {
  address: string;
  word: string;
  /** What kind of word it is, unless it is written to a register as it stands. */
  kind: string;
  changed: boolean;
  register: string;
  text: string;
}

/** Kinds of rows whose word is the value. */
const PLAIN = ["parameter", "issued"];
/** Effects of words that are data: the register that they are written to holds no value. */
const DATA = ["upload", "inline", "constant"];

export function columnsOf(line: WordLine): WordColumns {
  const { register, fields, uniform, effects } = line;
  const parts: string[] = [];
  // A header may have the value in it, and a mask may keep bytes that were there before.
  const data = effects?.some((effect) => DATA.includes(effect));
  if (!data && register?.new !== undefined && register.new !== line.word) parts.push(`= ${register.new}`);
  if (fields) parts.push(Object.entries(fields).map(([name, value]) => `${name}=${value}`).join(", "));
  if (uniform) parts.push(`${uniform.unit} ${uniform.register} = ${JSON.stringify(uniform.value)}`);
  if (register?.old !== undefined && register.old !== register.new) parts.push(`was ${register.old}`);
  if (effects?.length) parts.push(`→ ${effects.join(", ")}`);
  return {
    address: line.address ?? "",
    word: (line.word ?? "").replace(/^0x/, ""),
    kind: PLAIN.includes(line.what ?? "") ? "" : (line.what ?? "").replace("_", " "),
    changed: line.changed === true,
    register: register ? `${register.id} ${register.name}` : "",
    text: parts.join("  "),
  };
}

/** The address of a line's place: `decode` writes "tail" for the work after the last frame. */
export function addressOf(at: string, frames: number): string {
  return at.replace(/^tail(?=\/|$)/, `f${frames}`);
}
