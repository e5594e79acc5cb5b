// What lines of an answer are about: texels and registers, with the event in which they are meant.

import type { Reference } from "../shared/api";
import type { Session } from "../shared/session";
import { keeping } from "./references_of_lines";

interface RegisterWord {
  register: string;
  event: string;
  line: number;
  address: string | null;
  value: string;
}

export function nameOf(reference: Reference): string {
  return reference.register ?? `${reference.part} ${reference.x},${reference.y}`;
}

/** Select the texel of a reference. */
export function leadToTexel({ selection }: Session, { at, texture, part, x, y }: Reference): void {
  selection.lead(keeping(at, selection.address), { texel: { of: texture!, part: part!, x: x!, y: y! } });
}

/** Select the word that gave a register its value; false if no word did. */
export async function leadToWord(session: Session, { at, register }: Reference, signal: AbortSignal): Promise<boolean> {
  const { asker, selection } = session;
  const { word } = await asker.json<{ word: RegisterWord | null }>("/api/register-word", "register-word", { at, register: register! }, signal);
  if (!word) return false;
  selection.lead(keeping(word.event, selection.address), { word: { line: word.line, register: word.register } });
  return true;
}
