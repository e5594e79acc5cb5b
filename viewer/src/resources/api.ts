// The answers about resources, as docs/formats/view.md has them.

export interface TexturePart {
  name: string;
  width: number;
  height: number;
  level: number;
  layer: number;
  z: number;
}

export interface TextureInfo {
  name: string;
  bound: string;
  enabled: boolean;
  kind: string;
  format: string;
  width: number;
  height: number;
  depth: number;
  layers: number;
  levels: number;
  address: string | null;
  settings: Record<string, unknown>;
  fault: string;
  parts: TexturePart[];
  /** Parts that are not listed. */
  more: number;
}

export interface TableInfo {
  of: string;
  group: string;
  title: string;
  text: string;
  address: string | null;
  rows: number;
}

export interface ResourcesAnswer {
  textures: TextureInfo[];
  tables: TableInfo[];
  faults: string[];
  missing: string;
}

export interface TexelAnswer {
  x: number;
  y: number;
  address: string;
  size: number;
  data: string;
  color: [number, number, number, number];
  /** As programs get it. JSON has no infinity and no NaN: they are texts. */
  value: (number | string)[];
}

export interface TableAnswer {
  first: number;
  total: number;
  columns: { group: string; name: string }[];
  rows: (number | string)[][];
  places: string[];
  names?: string[];
}

/** "64x64 RGBA8, 3 levels at 0x20000000". */
export function textureText(one: TextureInfo): string {
  if (one.fault) return one.fault;
  const size = [one.width, one.height, one.depth].filter((side, index) => index < 2 || side > 1).join("x");
  const counts = [
    one.levels > 1 ? `${one.levels} levels` : "",
    one.layers > 1 ? `${one.layers} layers` : "",
    one.enabled ? "" : "off",
  ].filter(Boolean);
  return [`${one.kind} ${size} ${one.format}`, ...counts].join(", ");
}

/** How a part is named among the others of its texture. */
export function partText(part: TexturePart, texture: TextureInfo): string {
  const words = [
    texture.layers > 1 ? `${texture.kind.toLowerCase().includes("cube") ? "face" : "layer"} ${part.layer}` : "",
    texture.levels > 1 ? `level ${part.level}` : "",
    texture.depth > 1 ? `slice ${part.z}` : "",
  ].filter(Boolean);
  return `${words.join(", ") || "all"}: ${part.width}x${part.height}`;
}

/** A component of a texel: as many digits as a float of 32 bits has. */
export function componentText(value: number | string): string {
  return typeof value === "string" || Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
}
