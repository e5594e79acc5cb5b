// What the player holds: keys of the keyboard, a gamepad and the pointer, as the values of `live/input`.

import type { LiveControls } from "./api";

/** A stick of a gamepad that is not pushed is seldom at 0 exactly. */
const DEAD = 0.15;
const PRESSED = 0.5;

/** "circle 0,1" pushes a stick; "A" is a key. */
function push(does: string): { stick: string; x: number; y: number } | null {
  const match = /^(\w+) (-?[\d.]+),(-?[\d.]+)$/.exec(does);
  return match ? { stick: match[1]!, x: Number(match[2]), y: Number(match[3]) } : null;
}

export class Held {
  private readonly codes = new Set<string>();
  private readonly does: Map<string, string>;
  private pad: { buttons: string[]; sticks: Map<string, [number, number]> } = { buttons: [], sticks: new Map() };
  /** A point of the screen that is touched, "x,y"; empty if none is. */
  touch = "";
  /** Sliders and the like, by control. */
  readonly lasting = new Map<string, string>();

  constructor(private readonly controls: LiveControls) {
    this.does = new Map(controls.keyboard.map(({ code, does }) => [code, does]));
  }

  /** Whether a key of the keyboard is one of the console's. */
  knows(code: string): boolean {
    return this.does.has(code);
  }

  key(code: string, down: boolean): void {
    if (down && this.does.has(code)) this.codes.add(code);
    else this.codes.delete(code);
  }

  /** Let go of all keys and of the screen: the focus is elsewhere. */
  release(): void {
    this.codes.clear();
    this.touch = "";
  }

  gamepad(buttons: readonly { value: number }[], axes: readonly number[]): void {
    const names = this.controls.gamepad.filter((name, at) => name && (buttons[at]?.value ?? 0) > PRESSED);
    const sticks = new Map<string, [number, number]>();
    this.controls.sticks.forEach((name, at) => {
      const [x, y] = [axes[2 * at] ?? 0, axes[2 * at + 1] ?? 0];
      // A gamepad counts downwards, a console upwards.
      if (Math.hypot(x, y) > DEAD) sticks.set(name, [x, -y]);
    });
    this.pad = { buttons: names, sticks };
  }

  /** The values of a request. */
  values(): Record<string, string> {
    const keys = new Set(this.pad.buttons);
    const sticks = new Map(this.pad.sticks);
    for (const code of this.codes) {
      const does = this.does.get(code)!;
      const pushed = push(does);
      if (!pushed) {
        keys.add(does);
        continue;
      }
      const [x, y] = sticks.get(pushed.stick) ?? [0, 0];
      sticks.set(pushed.stick, [x + pushed.x, y + pushed.y]);
    }
    const values: Record<string, string> = Object.fromEntries(this.lasting);
    if (keys.size) values["keys"] = [...keys].join("+");
    for (const [name, [x, y]] of sticks) {
      // Two directions at once reach the edge of a circle, not the corner of a square.
      const length = Math.max(1, Math.hypot(x, y));
      if (x || y) values[name] = `${decimal(x / length)},${decimal(y / length)}`;
    }
    if (this.touch) values["touch"] = this.touch;
    return values;
  }
}

function decimal(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
