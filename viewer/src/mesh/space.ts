// Where the vertices of a draw are in space: as its program reads them, or as it leaves them.

import type { Column } from "../shared/packed";
import { clipPositions, type MeshData, type MeshTarget } from "./api";

/** input: a register as it is read. output: divided by w, as in the picture. clip: x, y and w, with the view as a pyramid. */
export const SPACES = ["input", "output", "clip"] as const;
export type Space = (typeof SPACES)[number];

export interface Placed {
  /** Three numbers for each vertex; NaN where it has no place. */
  points: Float32Array;
  /** Three vertices for each triangle, and the triangle of the answer that it is. */
  corners: Uint32Array;
  triangles: Uint32Array;
  /** Ends of the lines around the view volume, three numbers each. */
  volume: Float32Array;
  /** Triangles without a place, because a corner has none. */
  left: number;
  /** The rows are those of vertices that addresses count, not of what a later program emits. */
  named: boolean;
}

/** Registers that can be shown in the space of inputs. */
export function inputsOf(mesh: MeshData): Column[] {
  return mesh.columns.filter((one) => one.of === "inputs" && one.components > 1);
}

export function place(mesh: MeshData, space: Space, register = "", target: MeshTarget | null = null): Placed {
  if (space === "input") {
    const inputs = inputsOf(mesh);
    const column = inputs.find((one) => one.name === register) ?? inputs[0];
    return inputPlaces(mesh, column ?? null);
  }
  const column = clipPositions(mesh);
  if (!column) return { ...nothing(), named: !mesh.emitted };
  return space === "output" ? outputPlaces(mesh, column, target) : clipPlaces(mesh, column);
}

function nothing(): Placed {
  const none = new Float32Array(0);
  return { points: none, corners: new Uint32Array(0), triangles: new Uint32Array(0), volume: none, left: 0, named: true };
}

function inputPlaces(mesh: MeshData, column: Column | null): Placed {
  if (!column) return nothing();
  const { values, components } = column;
  const count = Math.floor(values.length / components);
  const points = new Float32Array(count * 3);
  for (let row = 0; row < count; row += 1) {
    for (let axis = 0; axis < 3; axis += 1) points[row * 3 + axis] = axis < components ? values[row * components + axis]! : 0;
  }
  if (!mesh.emitted) return { ...kept(points, mesh.corners, new Float32Array(0)), named: true };
  // A later program makes triangles of its own: its inputs form some three by three, in the order of the draw.
  const corners = Uint32Array.from({ length: Math.floor(count / 3) * 3 }, (_, index) => index);
  const found = kept(points, corners, new Float32Array(0));
  return { ...found, triangles: new Uint32Array(found.triangles.length).fill(0xffffffff), named: true };
}

/** Depth is spread so that the volume is as deep as it is high. */
function outputPlaces(mesh: MeshData, column: Column, target: MeshTarget | null): Placed {
  const { values, components } = column;
  const count = Math.floor(values.length / components);
  const points = new Float32Array(count * 3).fill(NaN);
  const put = placer(mesh, target);
  for (let row = 0; row < count; row += 1) {
    const [x, y, z, w] = values.subarray(row * components, row * components + 4) as unknown as [number, number, number, number];
    // A point behind the camera has no place on the screen.
    if (w > 0) points.set(put(x, y, z, w), row * 3);
  }
  const [near, far] = mesh.depths;
  const ends: number[] = [];
  const corner = (n: number): [number, number, number] => put(n & 1 ? 1 : -1, n & 2 ? 1 : -1, n & 4 ? far : near, 1);
  for (const [one, other] of BOX_EDGES) ends.push(...corner(one), ...corner(other));
  if (target) ends.push(...frameOf(target));
  return { ...kept(points, mesh.corners, Float32Array.from(ends)), named: !mesh.emitted };
}

const BOX_EDGES: [number, number][] = [
  [0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7],
];

/** From clip space to space as the picture shows it: x to the right, y up, the near plane in front; 2 units high. */
function placer(mesh: MeshData, target: MeshTarget | null): (x: number, y: number, z: number, w: number) => [number, number, number] {
  const [near, far] = mesh.depths;
  const deep = (z: number): number => 1 - (2 * (z - near)) / (far - near || 1);
  if (!target) return (x, y, z, w) => [x / w, y / w, deep(z / w)];
  const m = target.matrix;
  const scale = 2 / target.height;
  return (x, y, z, w) => {
    const [px, py, pw] = [0, 4, 8].map((row) => m[row]! * x + m[row + 1]! * y + m[row + 2]! * z + m[row + 3]! * w);
    return [(px! / pw! - target.width / 2) * scale, (target.height / 2 - py! / pw!) * scale, deep(z / w)];
  };
}

/** The edge of the target, in the plane of the near side. */
function frameOf({ width, height }: MeshTarget): number[] {
  const x = width / height;
  const round: [number, number][] = [[-x, -1], [x, -1], [x, 1], [-x, 1]];
  return round.flatMap(([left, bottom], index) => {
    const [right, top] = round[(index + 1) % round.length]!;
    return [left, bottom, 1, right, top, 1];
  });
}

function clipPlaces(mesh: MeshData, column: Column): Placed {
  const { values, components } = column;
  const count = Math.floor(values.length / components);
  const points = new Float32Array(count * 3);
  let most = 0;
  for (let row = 0; row < count; row += 1) {
    const at = row * components;
    const w = values[at + 3]!;
    points[row * 3] = values[at]!;
    points[row * 3 + 1] = values[at + 1]!;
    points[row * 3 + 2] = -w;
    if (w > most && w < Infinity) most = w;
  }
  const w = most || 1;
  const rim: [number, number][] = [[-w, -w], [w, -w], [w, w], [-w, w]];
  const volume = rim.flatMap(([x, y], index) => {
    const [nextX, nextY] = rim[(index + 1) % rim.length]!;
    return [0, 0, 0, x, y, -w, x, y, -w, nextX, nextY, -w];
  });
  return { ...kept(points, mesh.corners, Float32Array.from(volume)), named: !mesh.emitted };
}

/** The triangles whose corners all have a place. */
function kept(points: Float32Array, corners: Uint32Array, volume: Float32Array): Omit<Placed, "named"> {
  const found = new Uint32Array(corners.length);
  const triangles = new Uint32Array(corners.length / 3);
  let count = 0;
  for (let triangle = 0; triangle < triangles.length; triangle += 1) {
    let whole = true;
    for (let corner = 0; corner < 3 && whole; corner += 1) whole = hasPlace(points, corners[triangle * 3 + corner]!);
    if (!whole) continue;
    found.set(corners.subarray(triangle * 3, triangle * 3 + 3), count * 3);
    triangles[count] = triangle;
    count += 1;
  }
  return {
    points,
    corners: found.subarray(0, count * 3),
    triangles: triangles.subarray(0, count),
    volume,
    left: triangles.length - count,
  };
}

export function hasPlace(points: Float32Array, row: number): boolean {
  const at = row * 3;
  return at + 2 < points.length && Number.isFinite(points[at]!) && Number.isFinite(points[at + 1]!) && Number.isFinite(points[at + 2]!);
}

export interface Bounds {
  middle: [number, number, number];
  /** Half its width, height and depth. */
  half: [number, number, number];
  radius: number;
}

/** The bounds of what can be seen; points outside of a volume do not count. */
export function boundsOf(placed: Placed): Bounds {
  const { points, volume } = placed;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const add = (values: Float32Array): void => {
    for (let at = 0; at + 2 < values.length; at += 3) {
      if (!Number.isFinite(values[at]!) || !Number.isFinite(values[at + 1]!) || !Number.isFinite(values[at + 2]!)) continue;
      for (let axis = 0; axis < 3; axis += 1) {
        low[axis] = Math.min(low[axis]!, values[at + axis]!);
        high[axis] = Math.max(high[axis]!, values[at + axis]!);
      }
    }
  };
  add(volume.length ? volume : points);
  if (low[0] === Infinity) return { middle: [0, 0, 0], half: [1, 1, 1], radius: 1 };
  const middle = low.map((value, axis) => (value + high[axis]!) / 2) as [number, number, number];
  const half = low.map((value, axis) => (high[axis]! - value) / 2) as [number, number, number];
  return { middle, half, radius: Math.hypot(...half) || 1 };
}
