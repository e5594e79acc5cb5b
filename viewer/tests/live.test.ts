import { expect, test } from "vitest";
import type { LiveControls } from "../src/live/api";
import { actionName, keyName } from "../src/live/controls_view";
import { Held } from "../src/live/held";
import { Messages, opaque } from "../src/live/messages";

const CONTROLS: LiveControls = {
  keys: ["A", "B", "UP"],
  keyboard: [
    { code: "KeyX", does: "A" },
    { code: "ArrowUp", does: "UP" },
    { code: "KeyW", does: "stick 0,1" },
    { code: "KeyD", does: "stick 1,0" },
    { code: "KeyA", does: "stick -1,0" },
  ],
  gamepad: ["B", "A", "", "UP"],
  sticks: ["stick"],
  others: [],
  displays: [],
  rate: 60,
};

function message(head: object, pixels: number[]): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const data = new Uint8Array(8 + text.length + pixels.length);
  const lengths = new DataView(data.buffer);
  lengths.setUint32(0, text.length, true);
  lengths.setUint32(4, pixels.length, true);
  data.set(text, 8);
  data.set(pixels, 8 + text.length);
  return data;
}

test("messages are found wherever the stream is cut", () => {
  const data = [...message({ frame: 1, name: "ä" }, [1, 2, 3]), ...message({ frame: 2 }, []), ...message({ frame: 3 }, [9])];
  for (let cut = 0; cut <= data.length; cut += 1) {
    const messages = new Messages();
    const found = [...messages.push(Uint8Array.from(data.slice(0, cut))), ...messages.push(Uint8Array.from(data.slice(cut)))];
    expect(found.map((one) => [one.status.frame, [...one.pixels]])).toEqual([[1, [1, 2, 3]], [2, []], [3, [9]]]);
  }
  const bytes = new Messages();
  expect(data.flatMap((byte) => bytes.push(Uint8Array.of(byte))).map((one) => one.status.frame)).toEqual([1, 2, 3]);
});

test("a stream that is no stream of frames is refused", () => {
  expect(() => new Messages().push(new TextEncoder().encode("<html>nothing"))).toThrow("damaged");
});

test("pixels get their alpha", () => {
  const into = new Uint8ClampedArray(8);
  opaque(Uint8Array.of(1, 2, 3, 253, 254, 255), into);
  expect([...into]).toEqual([1, 2, 3, 255, 253, 254, 255, 255]);
});

test("keys add up, sticks are sums, and a corner is on the circle", () => {
  const held = new Held(CONTROLS);
  expect(held.values()).toEqual({});
  for (const code of ["KeyX", "ArrowUp", "KeyW", "Escape"]) held.key(code, true);
  expect(held.values()).toEqual({ keys: "A+UP", stick: "0,1" });
  held.key("KeyD", true);
  expect(held.values()["stick"]).toBe("0.707,0.707");
  held.key("KeyA", true);
  expect(held.values()["stick"]).toBe("0,1");
  held.key("KeyX", false);
  held.touch = "3,4";
  expect(held.values()).toEqual({ keys: "UP", stick: "0,1", touch: "3,4" });
  held.lasting.set("slider", "0.5");
  held.release();
  expect(held.values()).toEqual({ slider: "0.5" });
  expect([held.knows("KeyX"), held.knows("Space")]).toEqual([true, false]);
});

test("a gamepad holds keys and pushes sticks upwards; a stick at rest does nothing", () => {
  const held = new Held(CONTROLS);
  held.gamepad([{ value: 0 }, { value: 1 }, { value: 1 }, { value: 0.9 }], [0.5, -0.5]);
  expect(held.values()).toEqual({ keys: "A+UP", stick: "0.5,0.5" });
  held.gamepad([], [0.05, 0.1]);
  expect(held.values()).toEqual({});
});

test("keys and what they do are named as people call them", () => {
  expect(["left_stick 0,1", "circle -1,0", "circle 0.5,1", "A", "ZL"].map(actionName)).toEqual([
    "left stick ↑", "circle ←", "circle 0.5,1", "A", "ZL",
  ]);
  expect(["KeyW", "ArrowUp", "ShiftLeft", "Digit3", "Enter"].map(keyName)).toEqual(["W", "↑", "Shift", "3", "Enter"]);
});
