// What lines of an answer are about: texels and registers, with the event in which they are meant.

import { placeOfText } from "../shared/address";
import { askJson, type Reference } from "../shared/api";
import { selection } from "../shared/selection";

interface RegisterWord {
  register: string;
  event: string;
  line: number;
  address: string | null;
  value: string;
}

/** The references of each line. */
export function byLine(references: readonly Reference[] = []): Map<number, Reference[]> {
  const found = new Map<number, Reference[]>();
  for (const one of references) {
    const line = found.get(one.line);
    if (line) line.push(one);
    else found.set(one.line, [one]);
  }
  return found;
}

/** The address to select for a place: the selection itself where it is in that place, so that a pixel stays selected. */
export function keeping(place: string, selected = selection.address): string {
  return placeOfText(selected) === place ? selected : place;
}

export function nameOf(reference: Reference): string {
  return reference.register ?? `${reference.part} ${reference.x},${reference.y}`;
}

/** Select the texel of a reference. */
export function leadToTexel({ at, texture, part, x, y }: Reference): void {
  selection.lead(keeping(at), { texel: { of: texture!, part: part!, x: x!, y: y! } });
}

/** Select the word that gave a register its value; false if no word did. */
export async function leadToWord({ at, register }: Reference, signal: AbortSignal): Promise<boolean> {
  const { word } = await askJson<{ word: RegisterWord | null }>("/api/register-word", "register-word", { at, register: register! }, signal);
  if (!word) return false;
  selection.lead(keeping(word.event), { word: { line: word.line, register: word.register } });
  return true;
}
