// The rows of the mesh's tables: vertices with what goes into the program and what comes out, and triangles.

import type { Column } from "../shared/packed";
import type { MeshData } from "./api";

export interface Heading {
  title: string;
  /** Characters that its cells take. */
  width: number;
  detail: string;
}

export interface Table {
  headings: Heading[];
  count: number;
  cells: (row: number) => string[];
}

const AXES = "xyzw";
/** Widths of columns that the style sheet has. */
export const WIDTHS = [7, 9, 11, 14, 18, 22, 60] as const;
const NUMBER_WIDTH = 11;
/** A table with more columns would need a scroll bar as long as a thumb. */
const MOST_COLUMNS = 96;

/** Six digits, as people read numbers. */
export function numberText(value: number, whole: boolean): string {
  if (whole || Number.isInteger(value)) return String(value);
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

/** Columns of one number each. */
function parts(columns: Column[], note: (column: Column) => string): { headings: Heading[]; cells: (row: number) => string[] } {
  const split = columns.flatMap((column) =>
    Array.from({ length: column.components }, (_, part) => ({ column, part })),
  ).slice(0, MOST_COLUMNS);
  return {
    headings: split.map(({ column, part }) => ({
      title: column.components > 1 ? `${column.name}.${AXES[part] ?? part}` : column.name,
      width: WIDTHS.find((width) => width >= Math.max(NUMBER_WIDTH, column.name.length + 3)) ?? 18,
      detail: note(column),
    })),
    cells: (row) =>
      split.map(({ column, part }) => {
        const value = column.values[row * column.components + part];
        return value === undefined ? "" : numberText(value, !(column.values instanceof Float32Array));
      }),
  };
}

export function vertexTable(mesh: MeshData): Table {
  const number = mesh.columns.find((one) => one.of === "vertices" && one.name === "number");
  const inputs = mesh.columns.filter((one) => one.of === "inputs");
  const outputs = mesh.columns.filter((one) => one.of === "outputs");
  const before = parts(inputs, ({ name }) => {
    const found = mesh.inputs.find((one) => one.register === name);
    return found ? `input ${name}: ${found.format} ${found.type}, for each ${found.per}` : `input ${name}`;
  });
  const after = parts(outputs, ({ name }) => `output ${name}`);
  return {
    headings: [
      { title: "vertex", width: 7, detail: "position in the order of the draw; v in addresses" },
      { title: "index", width: 7, detail: "number in the buffers" },
      ...before.headings,
      ...after.headings,
    ],
    count: mesh.vertices.count,
    cells: (row) => [`v${row}`, String(number?.values[row] ?? ""), ...before.cells(row), ...after.cells(row)],
  };
}

export function emittedTable(mesh: MeshData): Table {
  const found = parts(
    mesh.columns.filter((one) => one.of === "emitted"),
    ({ name }) => `output ${name} of ${mesh.emitted?.by ?? "a later program"}`,
  );
  return {
    headings: [{ title: "emitted", width: 9, detail: `vertex that ${mesh.emitted?.by ?? "a later program"} emits` }, ...found.headings],
    count: mesh.emitted?.count ?? 0,
    cells: (row) => [String(row), ...found.cells(row)],
  };
}

/** shown: the triangles to list, by number. */
export function triangleTable(mesh: MeshData, shown: Uint32Array): Table {
  const letter = mesh.emitted ? "" : "v";
  return {
    headings: [
      { title: "primitive", width: 9, detail: "t in addresses" },
      { title: "verdict", width: 11, detail: "what becomes of it before raster" },
      { title: "corners", width: 22, detail: mesh.emitted ? "emitted vertices" : "vertices" },
      { title: "why", width: 60, detail: "what stops it, and the register that causes it" },
    ],
    count: shown.length,
    cells: (row) => {
      const triangle = shown[row]!;
      const fate = mesh.fates[mesh.fate[triangle]!];
      const corners = Array.from(mesh.corners.subarray(triangle * 3, triangle * 3 + 3), (one) => `${letter}${one}`);
      const number = mesh.primitive[triangle]!;
      const why = fate ? [fate.reason, fate.register && `(${fate.register})`].filter(Boolean).join(" ") : "";
      return [number < 0 ? `${triangle}` : `t${number}`, fate?.verdict ?? "", corners.join(" "), why];
    },
  };
}

/** The triangles whose verdict is not hidden. */
export function shownTriangles(mesh: MeshData, hidden: ReadonlySet<string>): Uint32Array {
  if (!hidden.size) return Uint32Array.from({ length: mesh.triangles.count }, (_, index) => index);
  const passes = mesh.fates.map(({ verdict }) => !hidden.has(verdict));
  const found: number[] = [];
  for (let triangle = 0; triangle < mesh.triangles.count; triangle += 1) {
    if (passes[mesh.fate[triangle]!] ?? true) found.push(triangle);
  }
  return Uint32Array.from(found);
}

/** How many triangles have each verdict, those that are drawn first, then the most common ones. */
export function verdictCounts(mesh: MeshData): [string, number][] {
  const found = new Map<string, number>();
  for (const { verdict, count } of mesh.fates) found.set(verdict, (found.get(verdict) ?? 0) + count);
  const drawn = ["drawn", "clipped"];
  return [...found].sort(([a, m], [b, n]) => drawn.indexOf(b) - drawn.indexOf(a) || n - m);
}
