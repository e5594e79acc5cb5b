import { describe, expect, it } from "vitest";
import { readMesh, type MeshData } from "../src/mesh/api";
import { cornerColours, without } from "../src/mesh/colours";
import { FIELD, Orbit } from "../src/mesh/orbit";
import { boundsOf, place } from "../src/mesh/space";
import { numberText, shownTriangles, triangleTable, verdictCounts, vertexTable } from "../src/mesh/table";
import { wireframeOf } from "../src/picture/wireframe";
import { packed } from "./packing";

const TARGET = { name: "target", width: 40, height: 20, matrix: [20, 0, 0, 20, 0, -10, 0, 10, 0, 0, 0, 1] };

/** Four vertices of a rectangle; w of the last one can be set. */
function mesh(w = 1, emitted = false): MeshData {
  const corners = [-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5];
  const position = [0, 1, 2, 3].flatMap((row) => [corners[row * 2]!, corners[row * 2 + 1]!, -0.5, row === 3 ? w : 1]);
  return readMesh(
    packed(
      {
        address: "f0/d1", title: "draw 1", topology: "triangles", vertices: { count: 4, all: 4 }, triangles: { count: 2, all: 2 },
        emitted: emitted ? { count: 4, all: 4, by: "a program" } : null,
        inputs: [{ register: "v0", format: "3 x f32", type: "f32", stride: 12, per: "vertex", address: null }],
        fates: [{ verdict: "culled", reason: "it turns", register: "CULL", count: 1 }, { verdict: "drawn", reason: "", register: "", count: 1 }],
        targets: [TARGET], depths: [-1, 0],
      },
      [
        ["vertices", "number", "i32", 1, [7, 8, 9, 10]],
        ["inputs", "v0", "f32", 3, [0, 1, 2, 3, 4, 5, 6, 7, 8, 0.123456789, 10, 11]],
        [emitted ? "emitted" : "outputs", "position", "f32", 4, position],
        [emitted ? "emitted" : "outputs", "color", "f32", 4, [...Array(16).keys()].map((n) => n / 16)],
        ["triangles", "corners", "u32", 3, [0, 1, 2, 0, 2, 3]],
        ["triangles", "fate", "u32", 1, [1, 0]],
        ["triangles", "primitive", "i32", 1, emitted ? [-1, -1] : [0, 1]],
      ],
    ),
  );
}

describe("a mesh in space", () => {
  it("is as the picture shows it after the programs", () => {
    const placed = place(mesh(), "output", "", TARGET);
    // Pixel 10, 15 of 40 x 20 pixels, 2 units high; half of the depth is in the middle.
    expect(Array.from(placed.points.subarray(0, 3))).toEqual([-1, -0.5, 0]);
    expect(placed.triangles).toEqual(Uint32Array.from([0, 1]));
    const { half } = boundsOf(placed);
    expect(half.map((value) => Math.round(value * 100) / 100)).toEqual([2, 1, 1]);
  });

  it("has no triangles whose corners are behind the eye, except before the division", () => {
    expect(place(mesh(-1), "output", "", TARGET)).toMatchObject({ left: 1, triangles: Uint32Array.from([0]) });
    const clip = place(mesh(-1), "clip");
    expect(clip.left).toBe(0);
    expect(clip.points[11]).toBe(1);
  });

  it("shows inputs, of a later program three by three", () => {
    const placed = place(mesh(), "input", "v0");
    expect(Array.from(placed.points.subarray(3, 6))).toEqual([3, 4, 5]);
    const emitted = place(mesh(1, true), "input");
    expect([emitted.corners.length, emitted.named]).toEqual([3, true]);
    expect(place(mesh(1, true), "output", "", TARGET).named).toBe(false);
  });

  it("leaves out hidden verdicts, and colours the rest", () => {
    const data = mesh();
    const placed = without(data, place(data, "output", "", TARGET), new Set(["drawn"]));
    expect(Array.from(placed.triangles)).toEqual([1]);
    expect(Array.from(placed.corners)).toEqual([0, 2, 3]);
    const verdicts = cornerColours(data, placed, "verdict");
    expect(verdicts[2]!).toBeGreaterThan(verdicts[0]!);
    const colours = cornerColours(data, place(data, "output", "", TARGET), "vertex");
    expect(colours[3]).toBeCloseTo((4 / 16) ** 2.2);
  });
});

describe("tables of a mesh", () => {
  it("have what goes in and what comes out", () => {
    const table = vertexTable(mesh());
    expect(table.headings.map((one) => one.title).slice(0, 6)).toEqual(["vertex", "index", "v0.x", "v0.y", "v0.z", "position.x"]);
    expect(table.cells(3).slice(0, 4)).toEqual(["v3", "10", "0.123457", "10"]);
    expect(table.headings[2]!.detail).toBe("input v0: 3 x f32 f32, for each vertex");
  });

  it("say of triangles what becomes of them", () => {
    const data = mesh();
    expect(triangleTable(data, shownTriangles(data, new Set())).cells(1)).toEqual(["t1", "culled", "v0 v2 v3", "it turns (CULL)"]);
    const culled = triangleTable(data, shownTriangles(data, new Set(["drawn"])));
    expect([culled.count, culled.cells(0)[0]]).toEqual([1, "t1"]);
    expect(verdictCounts(data)).toEqual([["drawn", 1], ["culled", 1]]);
    expect(triangleTable(mesh(1, true), Uint32Array.from([1])).cells(0)).toEqual(["1", "culled", "0 2 3", "it turns (CULL)"]);
  });

  it("write numbers that are none", () => {
    expect([NaN, Infinity, 0.1 + 0.2, 1e-9, 12].map((value) => numberText(value, false))).toEqual(["NaN", "Infinity", "0.3", "1e-9", "12"]);
  });
});

describe("the wireframe", () => {
  it("is in pixels of the target", () => {
    const { lines, verdicts } = wireframeOf(mesh(), "target");
    expect(Array.from(lines.subarray(0, 4))).toEqual([10, 15, 30, 15]);
    expect(verdicts).toEqual(["drawn", "culled"]);
    expect(wireframeOf(mesh(), "another").verdicts).toEqual([]);
  });

  it("cuts edges that pass the eye", () => {
    const { lines } = wireframeOf(mesh(-1), "target");
    expect(Array.from(lines.subarray(12)).every((value) => Number.isFinite(value))).toBe(true);
  });
});

describe("the camera", () => {
  it("sees all of a ball, from any side", () => {
    const orbit = new Orbit();
    orbit.fit([1, 2, 3], 2, 1, false);
    expect(orbit.eye[0]).toBeCloseTo(1);
    expect(orbit.eye[2] - 3).toBeCloseTo(2 / Math.sin(FIELD / 2));
    orbit.turn(Math.PI / 2, 0);
    expect(orbit.eye[0] - 1).toBeCloseTo(2 / Math.sin(FIELD / 2));
    orbit.turn(0, 9);
    expect(orbit.eye[1]).toBeGreaterThan(2);
    expect(orbit.pitch).toBeLessThan(Math.PI / 2);
  });

  it("moves what it looks at with the pointer", () => {
    const orbit = new Orbit();
    orbit.fitFlat([0, 0, 0], [2, 1], 3, 2);
    expect(orbit.height).toBeCloseTo(2.12);
    orbit.pan(0.5, 0);
    expect(orbit.target[0]).toBeCloseTo(-1.06);
    orbit.zoom(1e-9);
    expect(orbit.distance).toBeGreaterThan(0);
  });
});
