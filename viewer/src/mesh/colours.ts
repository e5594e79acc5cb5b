// Colours of triangles: of their verdicts, or of their vertices.

import { colours as colourColumn, type MeshData } from "./api";
import type { Placed } from "./space";

export const COLOURINGS = ["verdict", "vertex", "plain"] as const;
export type Colouring = (typeof COLOURINGS)[number];

/** Told apart by people who see red and green alike, too: brightness differs. */
export const VERDICT_COLOURS: Record<string, [number, number, number]> = {
  drawn: [0.3, 0.66, 0.42],
  clipped: [0.87, 0.7, 0.25],
  culled: [0.36, 0.5, 0.85],
  outside: [0.6, 0.42, 0.72],
  degenerate: [0.85, 0.45, 0.3],
  broken: [0.85, 0.2, 0.3],
};
const PLAIN: [number, number, number] = [0.7, 0.72, 0.75];

/** Red, green and blue of each corner of the placed triangles, linear, 0 to 1. */
export function cornerColours(mesh: MeshData, placed: Placed, colouring: Colouring): Float32Array {
  const found = new Float32Array(placed.corners.length * 3);
  const column = colouring === "vertex" && rowsAreShaded(mesh, placed) ? colourColumn(mesh) : null;
  for (let index = 0; index < placed.corners.length; index += 1) {
    if (column) {
      const at = placed.corners[index]! * column.components;
      for (let part = 0; part < 3; part += 1) found[index * 3 + part] = linear(unit(column.values[at + part] ?? 0));
      continue;
    }
    const triangle = placed.triangles[(index / 3) | 0]!;
    const verdict = mesh.fates[mesh.fate[triangle] ?? -1]?.verdict ?? "";
    const colour = colouring === "verdict" ? (VERDICT_COLOURS[verdict] ?? PLAIN) : PLAIN;
    for (let part = 0; part < 3; part += 1) found[index * 3 + part] = linear(colour[part]!);
  }
  return found;
}

/** Whether the rows of the places are those that colours have. */
function rowsAreShaded(mesh: MeshData, placed: Placed): boolean {
  return mesh.emitted ? !placed.named : true;
}

/** Light is computed with linear values; colours here are as screens take them. */
function linear(value: number): number {
  return value ** 2.2;
}

function unit(value: number): number {
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0;
}

export function cssColour(verdict: string): string {
  const [r, g, b] = VERDICT_COLOURS[verdict] ?? PLAIN;
  return `rgb(${Math.round(r * 255)} ${Math.round(g * 255)} ${Math.round(b * 255)})`;
}

/** The placed triangles whose verdict is not hidden. */
export function without(mesh: MeshData, placed: Placed, hidden: ReadonlySet<string>): Placed {
  if (!hidden.size) return placed;
  const corners = new Uint32Array(placed.corners.length);
  const triangles = new Uint32Array(placed.triangles.length);
  let count = 0;
  placed.triangles.forEach((triangle, index) => {
    const fate = mesh.fates[mesh.fate[triangle] ?? -1];
    if (fate && hidden.has(fate.verdict)) return;
    corners.set(placed.corners.subarray(index * 3, index * 3 + 3), count * 3);
    triangles[count] = triangle;
    count += 1;
  });
  return { ...placed, corners: corners.subarray(0, count * 3), triangles: triangles.subarray(0, count) };
}
