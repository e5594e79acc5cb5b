// The canvases of a program's screens: their pixels, their size on the page, and the point under the pointer.

import type { LiveDisplay, LiveStatus } from "./api";
import { opaque } from "./messages";

const GAP = 4;
const MOST_IMAGES = 4;
/** As many pixels become one while a program runs, if the page shows it as small as that or nearly so. */
const STEPS = [4, 2];
const NEARLY = 0.8;

/** The step for pictures that are shown smaller by a factor. */
export function stepOf(shrunk: number): number {
  return STEPS.find((step) => shrunk >= step * NEARLY) ?? 1;
}

export class Screens {
  readonly canvases: HTMLCanvasElement[];
  private readonly images = new Map<string, ImageData>();

  constructor(readonly displays: LiveDisplay[]) {
    this.canvases = displays.map(({ name }) => {
      const canvas = document.createElement("canvas");
      canvas.dataset["screen"] = name;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `screen ${name}`);
      return canvas;
    });
  }

  /** Show the rows of a message. */
  draw(screens: LiveStatus["screens"], pixels: Uint8Array): void {
    let at = 0;
    for (const { name, width, height, first = 0, rows = 0 } of screens) {
      const size = width * rows * 3;
      const canvas = this.canvases[this.displays.findIndex((one) => one.name === name)];
      if (canvas && rows && at + size <= pixels.length) {
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        const image = this.image(width, rows);
        opaque(pixels.subarray(at, at + size), image.data);
        canvas.getContext("2d", { desynchronized: true })!.putImageData(image, 0, first);
      }
      at += size;
    }
  }

  /** Pixels to be filled: those of before, if they have this size. */
  private image(width: number, rows: number): ImageData {
    const key = `${width},${rows}`;
    let found = this.images.get(key);
    if (!found) {
      if (this.images.size >= MOST_IMAGES) this.images.clear();
      found = new ImageData(width, rows);
      this.images.set(key, found);
    }
    return found;
  }

  /** How many pixels, in each direction, the page shows as one. */
  get step(): number {
    const density = devicePixelRatio;
    const shown = this.canvases.map((canvas, index) => this.displays[index]!.width / Math.max(1, canvas.clientWidth * density));
    return stepOf(Math.min(...shown));
  }

  /** Give the canvases their size in the page: a whole multiple of the screens', or what fits (0). */
  fit(scale: number, room: { width: number; height: number }): void {
    const width = Math.max(...this.displays.map((one) => one.width));
    const height = this.displays.reduce((sum, one) => sum + one.height, 0);
    const gaps = GAP * (this.displays.length - 1);
    const found = scale || Math.max(0.1, Math.min(room.width / width, (room.height - gaps) / height));
    this.canvases.forEach((canvas, index) => {
      canvas.style.width = `${Math.floor(this.displays[index]!.width * found)}px`;
      canvas.style.height = `${Math.floor(this.displays[index]!.height * found)}px`;
      // Whole texels where they are large, no missing lines where they are small.
      canvas.style.imageRendering = found >= 1 ? "pixelated" : "auto";
    });
  }

  /** The point of the touched screen under the pointer, "x,y"; empty on another screen. */
  point(event: PointerEvent): string {
    const index = this.canvases.findIndex((canvas) => canvas === event.target);
    const display = this.displays[index];
    if (!display?.touched) return "";
    const box = this.canvases[index]!.getBoundingClientRect();
    const along = (at: number, start: number, length: number, count: number): number =>
      Math.min(count - 1, Math.max(0, Math.floor(((at - start) / length) * count)));
    const x = along(event.clientX, box.left, box.width, display.width);
    return `${x},${along(event.clientY, box.top, box.height, display.height)}`;
  }
}
