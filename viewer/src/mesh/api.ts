// The answer to `mesh`: a header in JSON and arrays of numbers after it.

import { RequestError } from "../shared/asker";
import { unpack, type Column, type Numbers } from "../shared/packed";

export interface FateKind {
  verdict: string;
  reason: string;
  register: string;
  count: number;
}

export interface Count {
  count: number;
  all: number;
}

/** A picture of a target. matrix: three rows of four, from clip space to x and y of its pixels times w, and w. */
export interface MeshTarget {
  name: string;
  width: number;
  height: number;
  matrix: number[];
}

interface Header {
  address: string;
  title: string;
  topology: string;
  vertices: Count;
  triangles: Count;
  emitted: (Count & { by: string }) | null;
  inputs: { register: string; format: string; type: string; stride: number; per: string; address: string | null }[];
  fates: FateKind[];
  targets: MeshTarget[];
  depths: [number, number];
}

export interface MeshData extends Header {
  columns: Column[];
  /** Of each triangle: three rows of the vertices that are drawn. */
  corners: Uint32Array;
  /** Of each triangle: an index into `fates`. */
  fate: Uint32Array;
  /** Of each triangle: its number as addresses have it, or -1. */
  primitive: Int32Array;
}

/** Read the bytes of an answer. */
export function readMesh(bytes: Uint8Array | Uint8ClampedArray): MeshData {
  const { header, columns } = unpack<Header>(bytes);
  const named = (name: string): Numbers | undefined =>
    columns.find((one) => one.of === "triangles" && one.name === name)?.values;
  const corners = named("corners");
  if (!(corners instanceof Uint32Array)) throw new RequestError("the answer has no triangles", header.address);
  const fate = named("fate");
  const primitive = named("primitive");
  return {
    ...header,
    columns,
    corners,
    fate: fate instanceof Uint32Array ? fate : new Uint32Array(header.triangles.count),
    primitive: primitive instanceof Int32Array ? primitive : new Int32Array(header.triangles.count).fill(-1),
  };
}

/** The column of positions in clip space of the vertices that triangles name. */
export function clipPositions(mesh: MeshData): Column | null {
  const of = mesh.emitted ? "emitted" : "outputs";
  return mesh.columns.find((one) => one.of === of && one.name === "position") ?? null;
}

/** Their colours, if a program gives some by that name. */
export function colours(mesh: MeshData): Column | null {
  const of = mesh.emitted ? "emitted" : "outputs";
  return mesh.columns.find((one) => one.of === of && one.name === "color") ?? null;
}
