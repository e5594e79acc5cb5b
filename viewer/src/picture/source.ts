// The pictures at a place, and those before it: what to ask for and which picture to show.

import { parseAddress } from "../shared/address";
import { askBytes, askJson, RequestError, type PictureInfo } from "../shared/api";
import { store } from "../events/store";

export interface Picture {
  info: PictureInfo;
  pixels: Uint8ClampedArray<ArrayBuffer>;
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

/**
 * Where the pixel of an address may be in a picture. Pictures of screens count like addresses. Targets count as the
 * viewport does, and their pictures may be upright: turned (3DS), or with the first line at the top. The server knows;
 * it is asked about one place after the other until it names the address.
 */
export function placesOf(address: string, info: PictureInfo): [number, number][] {
  const parsed = parseAddress(address);
  if (!parsed?.pixel) return [];
  const [x, y] = parsed.pixel;
  const { width, height } = info;
  const inside = (parsed.draw ?? parsed.event ?? parsed.pass) !== undefined;
  const places: [number, number][] =
    info.kind !== "screen"
      ? [[x, y], [width - 1 - y, height - 1 - x], [x, height - 1 - y], [y, height - 1 - x], [width - 1 - y, x], [y, x]]
      : inside || (parsed.screen && parsed.screen !== info.name)
        ? []
        : [[x, y]];
  return places.filter(([column, row]) => column >= 0 && row >= 0 && column < width && row < height);
}

export async function listPictures(at: string, panel: string, signal: AbortSignal): Promise<PictureInfo[]> {
  return (await askJson<{ pictures: PictureInfo[] }>("/api/pictures", panel, { at }, signal)).pictures;
}

export async function readPicture(at: string, info: PictureInfo, panel: string, signal: AbortSignal): Promise<Picture> {
  const pixels = await askBytes("/api/picture", panel, { at, of: info.name }, signal);
  if (pixels.length !== info.width * info.height * 4) {
    throw new RequestError(
      `the picture has ${pixels.length} bytes, and ${info.width} x ${info.height} pixels need ${info.width * info.height * 4}`,
      at,
    );
  }
  return { info, pixels };
}

/** The picture of the same name after the event before. Where there is none to compare with, an error says so. */
export async function readBefore(at: string, info: PictureInfo, signal: AbortSignal): Promise<Picture> {
  await store.needFor(at);
  const before = store.tree.before(at);
  if (!before) throw new RequestError("nothing comes before this", at);
  const same = (await listPictures(before, "pictures-before", signal)).find((one) => one.name === info.name);
  if (!same) throw new RequestError(`there is no picture "${info.name}" before this event`, before);
  if (same.width !== info.width || same.height !== info.height || same.title !== info.title) {
    throw new RequestError(`"${info.name}" is another surface before this event: ${same.title}`, before);
  }
  return readPicture(before, same, "picture-before", signal);
}
