// The scene of the 3D view. This file and three.js with it are fetched when a mesh is first shown.

import {
  AmbientLight,
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  Points,
  PointsMaterial,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { FIELD, Orbit } from "./orbit";
import { hasPlace, type Placed } from "./space";

/** How near a vertex must be to what is clicked, in CSS pixels. */
const NEAR_PX = 7;

/** What the scene shows. colours: red, green and blue of each corner of `placed`, 0 to 1. */
export interface Shown {
  placed: Placed;
  colours: Float32Array;
  solid: boolean;
  wire: boolean;
  points: boolean;
  /** Without perspective, as in the picture. */
  flat: boolean;
}

export interface Palette {
  ground: string;
  volume: string;
  wire: string;
  point: string;
  mark: string;
}

export interface Picked {
  vertex?: number;
  triangle?: number;
}

export class MeshScene {
  readonly orbit = new Orbit();
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly deep = new PerspectiveCamera((FIELD * 180) / Math.PI, 1, 0.01, 100);
  private readonly flat = new OrthographicCamera();
  private camera: PerspectiveCamera | OrthographicCamera = this.deep;
  private aspect = 1;
  private readonly light = new DirectionalLight(0xffffff, 2.2);
  private faces: Mesh | null = null;
  private parts: (Mesh | LineSegments | Points)[] = [];
  private marks: (Mesh | LineSegments | Points)[] = [];
  private shown: Shown | null = null;
  private palette: Palette | null = null;

  /** Throws where the browser has no WebGL. */
  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.scene.add(new AmbientLight(0xffffff, 1.1), this.light);
  }

  dispose(): void {
    this.clear(this.parts);
    this.clear(this.marks);
    this.renderer.dispose();
  }

  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(devicePixelRatio);
    this.renderer.setSize(width, height, false);
    this.aspect = width / height;
    this.render();
  }

  show(shown: Shown, palette: Palette): void {
    this.shown = shown;
    this.camera = shown.flat ? this.flat : this.deep;
    this.palette = palette;
    this.clear(this.parts);
    this.faces = null;
    this.renderer.setClearColor(new Color(palette.ground));
    const { placed } = shown;
    const corners = new Float32Array(placed.corners.length * 3);
    placed.corners.forEach((row, index) => corners.set(placed.points.subarray(row * 3, row * 3 + 3), index * 3));
    const faces = geometryOf(corners, shown.colours);
    this.faces = new Mesh(
      faces,
      new MeshLambertMaterial({
        vertexColors: true,
        flatShading: true,
        side: DoubleSide,
        polygonOffset: true,
        polygonOffsetFactor: 1,
        polygonOffsetUnits: 1,
      }),
    );
    this.faces.visible = shown.solid;
    this.parts.push(this.faces);
    if (shown.wire) this.parts.push(new LineSegments(geometryOf(edgesOf(corners)), lines(palette.wire, shown.solid ? 0.55 : 1)));
    if (shown.points) {
      const points = Float32Array.from(finitePoints(placed.points));
      this.parts.push(new Points(geometryOf(points), new PointsMaterial({ color: palette.point, size: 3, sizeAttenuation: false })));
    }
    this.parts.push(new LineSegments(geometryOf(placed.volume), lines(palette.volume, 1)));
    this.scene.add(...this.parts);
  }

  /** Mark vertices and a triangle, by rows of `placed.points`. */
  mark(vertices: number[], triangle: number[] | null): void {
    this.clear(this.marks);
    if (!this.shown || !this.palette) return;
    const { points } = this.shown.placed;
    const at = (row: number): number[] => Array.from(points.subarray(row * 3, row * 3 + 3));
    if (triangle?.every((row) => hasPlace(points, row))) {
      const corners = Float32Array.from(triangle.flatMap(at));
      const fill = new MeshBasicMaterial({ color: this.palette.mark, side: DoubleSide, transparent: true, opacity: 0.45, depthTest: false });
      this.marks.push(new Mesh(geometryOf(corners), fill));
      const line = lines(this.palette.mark, 1);
      line.depthTest = false;
      this.marks.push(new LineSegments(geometryOf(edgesOf(corners)), line));
    }
    const placed = vertices.filter((row) => hasPlace(points, row));
    if (placed.length) {
      const dot = new PointsMaterial({ color: this.palette.mark, size: 9, sizeAttenuation: false, depthTest: false });
      this.marks.push(new Points(geometryOf(Float32Array.from(placed.flatMap(at))), dot));
    }
    // Marks are seen through what is in front of them.
    for (const mark of this.marks) mark.renderOrder = 1;
    if (this.marks.length) this.scene.add(...this.marks);
  }

  render(): void {
    const { orbit, camera } = this;
    camera.position.set(...orbit.eye);
    camera.lookAt(...orbit.target);
    if (camera instanceof OrthographicCamera) {
      camera.top = orbit.height / 2;
      camera.bottom = -camera.top;
      camera.right = camera.top * this.aspect;
      camera.left = -camera.right;
      // Nothing is behind an eye that sees everything from the same side.
      camera.near = orbit.distance - 40 * orbit.radius;
    } else {
      camera.aspect = this.aspect;
      camera.near = Math.max(orbit.distance - 20 * orbit.radius, orbit.distance * 0.01);
    }
    camera.far = orbit.distance + 40 * orbit.radius;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    // The light comes from the upper left of the eye.
    this.light.position.set(-0.4, 0.6, 1).applyQuaternion(camera.quaternion);
    this.renderer.render(this.scene, camera);
  }

  /** The vertex near a point of the canvas (CSS pixels), or else the triangle there; rows of `placed`. */
  pick(x: number, y: number): Picked {
    const placed = this.shown?.placed;
    if (!placed) return {};
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const hit = this.triangleAt(x, y, width, height);
    const vertex = this.vertexAt(x, y, width, height, hit?.depth ?? Infinity);
    if (vertex >= 0) return { vertex };
    return hit ? { triangle: hit.triangle } : {};
  }

  /** Where a vertex is on the canvas, in CSS pixels. */
  pointOf(row: number): [number, number] {
    const point = new Vector3().fromArray(this.shown!.placed.points, row * 3).project(this.camera);
    return [((point.x + 1) / 2) * this.canvas.clientWidth, ((1 - point.y) / 2) * this.canvas.clientHeight];
  }

  private triangleAt(x: number, y: number, width: number, height: number): { triangle: number; depth: number } | null {
    if (!this.faces) return null;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((x / width) * 2 - 1, 1 - (y / height) * 2), this.camera);
    // A ray passes by what is not visible.
    const hit = ray.intersectObject(this.faces, false)[0];
    return hit?.faceIndex == null ? null : { triangle: hit.faceIndex, depth: this.depthOf(hit.point) };
  }

  /** The nearest vertex that no triangle hides. */
  private vertexAt(x: number, y: number, width: number, height: number, depth: number): number {
    const { points } = this.shown!.placed;
    const point = new Vector3();
    let best = -1;
    let least = NEAR_PX ** 2;
    for (let row = 0; row * 3 < points.length; row += 1) {
      if (!hasPlace(points, row)) continue;
      point.fromArray(points, row * 3);
      if (this.shown!.solid && this.depthOf(point) > depth + this.orbit.radius * 0.02) continue;
      point.project(this.camera);
      if (point.z > 1) continue;
      const away = (((point.x + 1) / 2) * width - x) ** 2 + (((1 - point.y) / 2) * height - y) ** 2;
      if (away < least) {
        least = away;
        best = row;
      }
    }
    return best;
  }

  /** How far a point is in front of the eye. */
  private depthOf(point: Vector3): number {
    return -point.clone().applyMatrix4(this.camera.matrixWorldInverse).z;
  }

  private clear(parts: (Mesh | LineSegments | Points)[]): void {
    for (const part of parts) {
      this.scene.remove(part);
      part.geometry.dispose();
      (part.material as MeshBasicMaterial).dispose();
    }
    parts.length = 0;
  }
}

function geometryOf(points: Float32Array, colours?: Float32Array): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(points, 3));
  if (colours) geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return geometry;
}

function lines(colour: string, opacity: number): LineBasicMaterial {
  return new LineBasicMaterial({ color: colour, transparent: opacity < 1, opacity });
}

/** The three edges of each triangle, as ends of lines. */
function edgesOf(corners: Float32Array): Float32Array {
  const found = new Float32Array(corners.length * 2);
  for (let at = 0; at < corners.length; at += 9) {
    for (let edge = 0; edge < 3; edge += 1) {
      const next = (edge + 1) % 3;
      found.set(corners.subarray(at + edge * 3, at + edge * 3 + 3), at * 2 + edge * 6);
      found.set(corners.subarray(at + next * 3, at + next * 3 + 3), at * 2 + edge * 6 + 3);
    }
  }
  return found;
}

function* finitePoints(points: Float32Array): Generator<number> {
  for (let row = 0; row * 3 < points.length; row += 1) {
    if (hasPlace(points, row)) yield* points.subarray(row * 3, row * 3 + 3);
  }
}
