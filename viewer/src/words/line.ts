// A line of words in columns. Lines are objects of `pocketgpu decode --json`, as values or as text, or plain text.

import type { WordLine } from "../shared/api";

export interface WordColumns {
  address: string;
  word: string;
  what: string;
  changed: boolean;
  register: string;
  text: string;
}

const EMPTY: WordColumns = { address: "", word: "", what: "", changed: false, register: "", text: "" };

export function columnsOf(line: WordLine | string): WordColumns {
  if (typeof line === "string") {
    if (!line.startsWith("{")) return { ...EMPTY, text: line };
    try {
      line = JSON.parse(line) as WordLine;
    } catch {
      return { ...EMPTY, text: line as string };
    }
  }
  const { register, fields, uniform, effects } = line;
  const parts: string[] = [];
  if (fields) parts.push(Object.entries(fields).map(([name, value]) => `${name}=${value}`).join(", "));
  if (uniform) parts.push(`${uniform.unit} ${uniform.register} = ${JSON.stringify(uniform.value)}`);
  if (register?.old !== undefined && register.old !== register.new) parts.push(`was ${register.old}`);
  if (effects?.length) parts.push(`→ ${effects.join(", ")}`);
  return {
    address: line.address ?? "",
    word: (line.word ?? "").replace(/^0x/, ""),
    what: line.what ?? "",
    changed: line.changed === true,
    register: register ? `${register.id} ${register.name}` : "",
    text: parts.join("  "),
  };
}
