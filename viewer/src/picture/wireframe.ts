// The wireframe of a draw over a picture of its target: edges of triangles in pixels of the picture.

import { clipPositions, type MeshData } from "../mesh/api";
import type { Meshes } from "../mesh/asking";

/** Ends of lines, four numbers each (x and y of both ends), with the triangle of each three. */
export interface Wireframe {
  lines: Float32Array;
  verdicts: string[];
  left: number;
}

/** Browsers draw lines one by one; more than this would make panning slow. */
const MOST_TRIANGLES = 20_000;
/** What is nearer to the eye than this has no place in the picture. */
const NEAREST = 1e-4;

export async function readWireframe(meshes: Meshes, at: string, of: string, signal: AbortSignal): Promise<Wireframe> {
  return wireframeOf(await meshes.ask(at, signal), of);
}

/** The edges of all triangles that are in front of the eye; edges that pass it are cut there. */
export function wireframeOf(mesh: MeshData, of: string): Wireframe {
  const target = mesh.targets.find((one) => one.name === of);
  const column = clipPositions(mesh);
  const count = Math.min(mesh.triangles.count, MOST_TRIANGLES);
  if (!target || !column) return { lines: new Float32Array(0), verdicts: [], left: 0 };
  const lines = new Float32Array(count * 12).fill(NaN);
  const m = target.matrix;
  const projected = (row: number): [number, number, number] => {
    const [x, y, z, w] = column.values.subarray(row * column.components, row * column.components + 4);
    return [0, 4, 8].map((at) => m[at]! * x! + m[at + 1]! * y! + m[at + 2]! * z! + m[at + 3]! * w!) as [number, number, number];
  };
  const verdicts: string[] = [];
  for (let triangle = 0; triangle < count; triangle += 1) {
    verdicts.push(mesh.fates[mesh.fate[triangle]!]?.verdict ?? "");
    const corners = [0, 1, 2].map((corner) => projected(mesh.corners[triangle * 3 + corner]!));
    for (let edge = 0; edge < 3; edge += 1) {
      const line = cutLine(corners[edge]!, corners[(edge + 1) % 3]!);
      if (line) lines.set(line, triangle * 12 + edge * 4);
    }
  }
  return { lines, verdicts, left: mesh.triangles.count - count };
}

type Point = [number, number, number];

/** The part of a line in front of the eye: x and y of both ends. */
function cutLine(one: Point, other: Point): [number, number, number, number] | null {
  if (!(one[2] >= NEAREST) && !(other[2] >= NEAREST)) return null;
  const [from, to] = [cutEnd(one, other), cutEnd(other, one)];
  return [from[0] / from[2], from[1] / from[2], to[0] / to[2], to[1] / to[2]];
}

function cutEnd(end: Point, other: Point): Point {
  if (end[2] >= NEAREST) return end;
  const part = (NEAREST - end[2]) / (other[2] - end[2]);
  return end.map((value, axis) => value + (other[axis]! - value) * part) as Point;
}
