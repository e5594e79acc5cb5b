// References by the lines of an answer's text, and the address that they lead to.

import { placeOfText } from "../shared/address";
import type { Reference } from "../shared/api";

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
export function keeping(place: string, selected: string): string {
  return placeOfText(selected) === place ? selected : place;
}
