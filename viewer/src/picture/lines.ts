// Lines over a picture.

import type { Viewport } from "./viewport";

/** ends: x and y of both ends of each line, in pixels of the picture. groups: colours, and the lines that have them. */
export interface Lines {
  ends: Float32Array;
  groups: { colour: string; lines: number[] }[];
}

/** Lines of length 0 and NaN leave nothing; those that can't be seen are not stroked. box: left, top, right, bottom. */
export function strokeLines(
  context: CanvasRenderingContext2D,
  { ends, groups }: Lines,
  { zoom, left, top }: Viewport,
  [x0, y0, x1, y1]: [number, number, number, number],
): void {
  context.lineWidth = Math.max(1, Math.min(2, zoom / 4));
  for (const { colour, lines } of groups) {
    context.beginPath();
    for (const line of lines) {
      const ax = left + ends[line * 4]! * zoom;
      const ay = top + ends[line * 4 + 1]! * zoom;
      const bx = left + ends[line * 4 + 2]! * zoom;
      const by = top + ends[line * 4 + 3]! * zoom;
      const seen = Math.max(ax, bx) >= x0 && Math.min(ax, bx) <= x1 && Math.max(ay, by) >= y0 && Math.min(ay, by) <= y1;
      if (!seen) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.strokeStyle = colour;
    context.stroke();
  }
}
