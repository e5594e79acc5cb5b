// The picture of a new place, asked for beside the list of its pictures: mostly it has the same ones as the place before.

import type { PictureInfo } from "../shared/api";
import { fitting, readBytes, readPicture, type Picture } from "./source";

export class Early {
  private readonly controller = new AbortController();
  private readonly bytes: Promise<Uint8ClampedArray<ArrayBuffer> | null>;

  /** at: the place. name: of the picture that it probably has. */
  constructor(
    private readonly at: string,
    private readonly name: string,
    panel: string,
  ) {
    // Where there is no such picture the list says so.
    this.bytes = readBytes(at, name, panel, this.controller.signal).catch(() => null);
  }

  drop(): void {
    this.controller.abort();
  }

  /** The question for a picture of the list. It is asked anew if another picture was expected, or the bytes don't fit. */
  question(info: PictureInfo, panel: string): (signal: AbortSignal) => Promise<Picture> {
    let given: typeof this.bytes | null = this.bytes;
    if (info.name !== this.name) {
      this.drop();
      given = null;
    }
    return async (signal) => {
      const awaited = given;
      given = null;
      if (awaited) {
        signal.addEventListener("abort", () => this.drop());
        const bytes = await awaited;
        signal.throwIfAborted();
        if (bytes) return fitting(bytes, info, this.at);
      }
      return readPicture(this.at, info, panel, signal);
    };
  }
}
