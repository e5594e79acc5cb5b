// The canvases of a program's screens: their pixels, their size on the page, and the point under the pointer.

import type { LiveDisplay, LiveStatus } from "./api";
import { opaque } from "./messages";

const GAP = 4;

export class Screens {
  readonly canvases: HTMLCanvasElement[];

  constructor(readonly displays: LiveDisplay[]) {
    this.canvases = displays.map(({ name }) => {
      const canvas = document.createElement("canvas");
      canvas.dataset["screen"] = name;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `screen ${name}`);
      return canvas;
    });
  }

  /** Show the pixels of a message. */
  draw(screens: LiveStatus["screens"], pixels: Uint8Array): void {
    let at = 0;
    for (const { name, width, height } of screens) {
      const size = width * height * 3;
      const canvas = this.canvases[this.displays.findIndex((one) => one.name === name)];
      if (canvas && at + size <= pixels.length) {
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
        const image = new ImageData(width, height);
        opaque(pixels.subarray(at, at + size), image.data);
        canvas.getContext("2d")!.putImageData(image, 0, 0);
      }
      at += size;
    }
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
