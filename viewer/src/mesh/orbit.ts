// A camera that turns around a point. It knows no library: it gives the place of the eye.

/** The angle that the height of the view covers. */
export const FIELD = (40 * Math.PI) / 180;

export type Vector = [number, number, number];

const STEEPEST = Math.PI / 2 - 0.01;
const LEAST = 1e-3;
const MOST = 1e3;

export class Orbit {
  /** Angles in radians: 0, 0 looks along -z. */
  yaw = 0;
  pitch = 0;
  distance = 3;
  target: Vector = [0, 0, 0];
  /** Of what is looked at. */
  radius = 1;

  /** Look at a ball from the front, or from the side a little if `turned`. */
  fit(middle: Vector, radius: number, aspect: number, turned: boolean): void {
    this.target = [...middle];
    this.radius = radius;
    const field = 2 * Math.atan(Math.tan(FIELD / 2) * Math.min(1, aspect));
    this.distance = radius / Math.sin(field / 2);
    this.yaw = turned ? 0.6 : 0;
    this.pitch = turned ? 0.35 : 0;
  }

  /** Look from the front at a rectangle, of half this width and height, without perspective. */
  fitFlat(middle: Vector, [across, up]: [number, number], radius: number, aspect: number): void {
    this.fit(middle, radius, aspect, false);
    const height = 2 * Math.max(up, across / aspect) * 1.06;
    this.distance = height / (2 * Math.tan(FIELD / 2));
  }

  turn(yaw: number, pitch: number): void {
    this.yaw += yaw;
    this.pitch = Math.min(STEEPEST, Math.max(-STEEPEST, this.pitch + pitch));
  }

  /** factor below 1: nearer. */
  zoom(factor: number): void {
    this.distance = Math.min(this.radius * MOST, Math.max(this.radius * LEAST, this.distance * factor));
  }

  /** Move along the screen by parts of its height. */
  pan(right: number, up: number): void {
    const height = this.height;
    const [x, y] = this.axes();
    this.target = this.target.map((value, axis) => value - (x[axis]! * right - y[axis]! * up) * height) as Vector;
  }

  /** What the view's height covers at the distance of the target. */
  get height(): number {
    return 2 * this.distance * Math.tan(FIELD / 2);
  }

  get eye(): Vector {
    const back = this.axes()[2];
    return this.target.map((value, axis) => value + back[axis]! * this.distance) as Vector;
  }

  /** Right, up and back. */
  private axes(): [Vector, Vector, Vector] {
    const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
    return [[cy, 0, -sy], [-sy * sp, cp, -cy * sp], [sy * cp, sp, cy * cp]];
  }
}
