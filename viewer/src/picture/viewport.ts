// Where a picture lies in a box: zoom, the place of its corner, and the way between points and pixels. All lengths are
// pixels of the screen, so that one texel covers whole ones.

export const STEPS = [1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/** From this zoom on lines separate the texels. */
export const GRID_FROM = 8;

export class Viewport {
  zoom = 1;
  left = 0;
  top = 0;
  width = 1;
  height = 1;

  /** Size of the picture. */
  constructor(
    public imageWidth = 1,
    public imageHeight = 1,
  ) {}

  /** The largest step at which all of the picture can be seen; centred. */
  fit(): void {
    const room = Math.min(this.width / this.imageWidth, this.height / this.imageHeight);
    this.zoom = STEPS.findLast((step) => step <= room) ?? STEPS[0]!;
    this.centre();
  }

  centre(): void {
    this.left = Math.round((this.width - this.imageWidth * this.zoom) / 2);
    this.top = Math.round((this.height - this.imageHeight * this.zoom) / 2);
  }

  /** One step in (1) or out (-1); what is at the point stays there. */
  step(direction: 1 | -1, x = this.width / 2, y = this.height / 2): void {
    const next =
      direction > 0 ? STEPS.find((step) => step > this.zoom) : STEPS.findLast((step) => step < this.zoom);
    if (next) this.zoomTo(next, x, y);
  }

  zoomTo(zoom: number, x = this.width / 2, y = this.height / 2): void {
    this.left = Math.round(x - ((x - this.left) / this.zoom) * zoom);
    this.top = Math.round(y - ((y - this.top) / this.zoom) * zoom);
    this.zoom = zoom;
    this.keep();
  }

  pan(dx: number, dy: number): void {
    this.left = Math.round(this.left + dx);
    this.top = Math.round(this.top + dy);
    this.keep();
  }

  /** The pixel at a point of the box, or null outside of the picture. */
  pixelAt(x: number, y: number): [number, number] | null {
    const column = Math.floor((x - this.left) / this.zoom);
    const row = Math.floor((y - this.top) / this.zoom);
    return column >= 0 && row >= 0 && column < this.imageWidth && row < this.imageHeight ? [column, row] : null;
  }

  /** The middle of a pixel in the box. */
  pointOf(x: number, y: number): [number, number] {
    return [this.left + (x + 0.5) * this.zoom, this.top + (y + 0.5) * this.zoom];
  }

  /** Move the picture as little as needed so that a pixel can be seen. */
  reveal(x: number, y: number): void {
    const [px, py] = this.pointOf(x, y);
    const margin = Math.min(this.zoom, this.width / 4, this.height / 4);
    const dx = Math.max(margin - px, 0) + Math.min(this.width - margin - px, 0);
    const dy = Math.max(margin - py, 0) + Math.min(this.height - margin - py, 0);
    if (dx || dy) this.pan(dx, dy);
  }

  /** Some of the picture always stays in the box. */
  private keep(): void {
    const edge = 24;
    this.left = Math.min(Math.max(this.left, edge - this.imageWidth * this.zoom), this.width - edge);
    this.top = Math.min(Math.max(this.top, edge - this.imageHeight * this.zoom), this.height - edge);
  }
}
