// Rows of a window that moves over a long list: a Lit directive that keeps the elements of rows which stay.

import { noChange, type ChildPart } from "lit";
import { directive, Directive, type DirectiveResult } from "lit/directive.js";
import { getCommittedValue, insertPart, removePart, setChildPartValue, setCommittedValue } from "lit/directive-helpers.js";

/** A window that moves further, in parts of its rows, keeps its elements in their places: other texts cost less then. */
const NEAR = 1 / 2;

class Rolling extends Directive {
  /** The index of the first row of the window. */
  private first = 0;

  render(_first: number, rows: unknown[]): unknown[] {
    return rows;
  }

  override update(container: ChildPart, [first, rows]: [number, unknown[]]): unknown {
    const shift = first - this.first;
    this.first = first;
    const parts = getCommittedValue(container) as ChildPart[] | undefined;
    if (!Array.isArray(parts)) return rows;
    // Elements whose rows have left the window become those of the rows that come, at the other end.
    if (Math.abs(shift) <= parts.length * NEAR) {
      if (shift > 0) this.toEnd(container, parts, shift);
      else if (shift < 0) this.toFront(container, parts, -shift);
    }
    while (parts.length > rows.length) removePart(parts.pop()!);
    rows.forEach((row, at) => setChildPartValue((parts[at] ??= insertPart(container)), row));
    setCommittedValue(container, parts);
    return noChange;
  }

  private toEnd(container: ChildPart, parts: ChildPart[], count: number): void {
    const left = parts.splice(0, count);
    for (const part of left) insertPart(container, undefined, part);
    parts.push(...left);
  }

  private toFront(container: ChildPart, parts: ChildPart[], count: number): void {
    const left = parts.splice(parts.length - count, count);
    for (const part of left) insertPart(container, parts[0], part);
    parts.unshift(...left);
  }
}

/** The rows of a window. first: the index of the first one, by which it is known how far the window has moved. */
export const rolling: (first: number, rows: unknown[]) => DirectiveResult<typeof Rolling> = directive(Rolling);
