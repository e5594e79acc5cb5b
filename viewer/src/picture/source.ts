// The pictures at a place, and those before it: what to ask for and which picture to show.

import { parseAddress } from "../shared/address";
import type { PictureInfo } from "../shared/api";
import { RequestError, type Asker } from "../shared/asker";
import { unpack } from "../shared/packed";

type Bytes = Uint8ClampedArray<ArrayBuffer>;

export interface Picture {
  info: PictureInfo;
  pixels: Bytes;
}

/** The picture to show: the screen that the address names, what was chosen before, or what fits the place best. */
export function choose(pictures: PictureInfo[], address: string, wanted: string | null): PictureInfo | null {
  const parsed = parseAddress(address);
  const named = parsed?.screen && pictures.find((picture) => picture.name === parsed.screen);
  if (named) return named;
  const kept = pictures.find((picture) => picture.name === wanted);
  if (kept) return kept;
  const inside = parsed && (parsed.draw ?? parsed.event ?? parsed.pass) !== undefined;
  const kind = inside ? "colour" : "screen";
  return pictures.find((picture) => picture.kind === kind) ?? pictures[0] ?? null;
}

/** The address of a pixel of a picture; null where none names it. */
export function addressOf({ addresses }: PictureInfo, x: number, y: number): string | null {
  if (!addresses) return null;
  const [column, row] = [0, 1].map((axis) => addresses.first[axis]! + addresses.turn[axis]![0] * x + addresses.turn[axis]![1] * y);
  return `${addresses.places[0]}/px${column},${row}`;
}

/** The pixel of a picture that an address names; null where it names none of this picture. */
export function pixelOf({ addresses, width, height }: PictureInfo, address: string): [number, number] | null {
  const match = /^(.*)\/px(\d{1,9}),(\d{1,9})$/.exec(address);
  if (!match || !addresses?.places.includes(match[1]!)) return null;
  const { first, turn } = addresses;
  const across = Number(match[2]) - first[0];
  const down = Number(match[3]) - first[1];
  // Pictures are turned by quarters or mirrored: the transpose of such a matrix is its inverse.
  const x = turn[0][0] * across + turn[1][0] * down;
  const y = turn[0][1] * across + turn[1][1] * down;
  return x >= 0 && y >= 0 && x < width && y < height ? [x, y] : null;
}

export async function listPictures(asker: Asker, at: string, panel: string, signal: AbortSignal): Promise<PictureInfo[]> {
  return (await asker.json<{ pictures: PictureInfo[] }>("/api/pictures", panel, { at }, signal)).pictures;
}

export async function readPicture(
  asker: Asker,
  at: string,
  info: PictureInfo,
  panel: string,
  signal: AbortSignal,
): Promise<Picture> {
  return fitting(await asker.bytes("/api/picture", panel, { at, of: info.name }, signal), info, at);
}

export interface Look {
  pictures: PictureInfo[];
  /** The one that was wanted, or one that fits the place; null if there are none. */
  picture: Picture | null;
}

/** The pictures of a place, and the pixels of one. wanted: its name, if the place has it. */
export async function look(asker: Asker, at: string, wanted: string, signal: AbortSignal): Promise<Look> {
  const { header, columns } = unpack<{ pictures: PictureInfo[]; shown: string | null }>(
    await asker.bytes("/api/look", "pictures", { at, of: wanted }, signal),
  );
  const info = header.pictures.find((one) => one.name === header.shown);
  const values = columns[0]?.values;
  if (!info || !values) return { pictures: header.pictures, picture: null };
  const pixels = new Uint8ClampedArray(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
  return { pictures: header.pictures, picture: fitting(pixels, info, at) };
}

/** A picture, if its bytes are as many as it needs. */
function fitting(pixels: Bytes, info: PictureInfo, at: string): Picture {
  if (pixels.length !== info.width * info.height * 4) {
    throw new RequestError(
      `the picture has ${pixels.length} bytes, and ${info.width} x ${info.height} pixels need ${info.width * info.height * 4}`,
      at,
    );
  }
  return { info, pixels };
}

/** The picture as it was before the event: targets in the layout that they have now. Where there is none, an error says so. */
export async function readBefore(asker: Asker, at: string, info: PictureInfo, signal: AbortSignal): Promise<Picture> {
  return fitting(await asker.bytes("/api/picture", "picture-before", { at, of: info.name, before: "1" }, signal), info, at);
}
