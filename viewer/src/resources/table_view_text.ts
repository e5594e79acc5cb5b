// The texts of cells.

/** A number with as many digits as a column has room for. */
export function cellText(cell: number | string): string {
  if (typeof cell === "string" || Number.isInteger(cell)) return String(cell);
  const size = Math.abs(cell);
  return size >= 1e6 || size < 1e-4 ? cell.toExponential(4) : String(Number(cell.toPrecision(7)));
}
