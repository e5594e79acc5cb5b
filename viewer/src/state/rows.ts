// Changes of registers as rows of one height: a row for each register, then one for each of its fields.

import type { RegisterChange } from "../shared/api";

export interface StateRow {
  field: boolean;
  name: string;
  old: string;
  new: string;
}

/** Rows of the registers whose name, fields or values hold all words of the filter. */
export function rowsOf(changes: RegisterChange[], filter: string): StateRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: StateRow[] = [];
  for (const change of changes) {
    if (words.length) {
      const text = [
        change.register,
        change.old,
        change.new,
        ...change.fields.map((field) => `${field.name} ${field.old} ${field.new}`),
      ]
        .join(" ")
        .toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    rows.push({ field: false, name: change.register, old: text(change.old), new: text(change.new) });
    for (const field of change.fields) {
      rows.push({ field: true, name: field.name, old: text(field.old), new: text(field.new) });
    }
  }
  return rows;
}

/** Values come as text; a register that was never written has none. */
function text(value: unknown): string {
  return value === null || value === undefined ? "–" : String(value);
}
