// Numbers as people read them.

// `toLocaleString` makes such a formatter each time, which takes longer than a row of a table.
const GROUPED = new Intl.NumberFormat("en");

/** With commas between thousands. */
export function grouped(value: number): string {
  return GROUPED.format(value);
}
