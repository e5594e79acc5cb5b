// The fold of keys and controls: what the keyboard does, and the console's controls that no key has.

import { html, nothing, type TemplateResult } from "lit";
import type { Command, LiveControl, LiveControls } from "./api";
import type { Held } from "./held";

type Tell = (what: Command, values: Record<string, string>) => void;

/** A key's code as people call it: "KeyW" is W. */
export function keyName(code: string): string {
  const arrow = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" }[code];
  return arrow ?? code.replace(/^(Key|Digit)/, "").replace(/^Shift(Left|Right)$/, "Shift");
}

const DIRECTIONS: Record<string, string> = { "0,1": "↑", "0,-1": "↓", "-1,0": "←", "1,0": "→" };

/** What a key does, for people: "left_stick 0,1" is left stick ↑. */
export function actionName(does: string): string {
  const push = /^(\w+) (-?[\d.]+,-?[\d.]+)$/.exec(does);
  return push ? `${push[1]!.replaceAll("_", " ")} ${DIRECTIONS[push[2]!] ?? push[2]!}` : does;
}

export function keyTable(controls: LiveControls): TemplateResult {
  const rows = new Map(controls.keyboard.map(({ code, does }) => [keyName(code), does]));
  const touched = controls.displays.find((one) => one.touched);
  const entry = (name: string, does: string): TemplateResult => html`<div><kbd>${name}</kbd><span>${does}</span></div>`;
  return html`<p>Click the screens first: keys go where the focus is. Gamepads work, too.</p>
    <div class="keys">
      ${[...rows].map(([name, does]) => entry(name, actionName(does)))}
      ${touched ? entry("pointer", `touches ${touched.name}`) : nothing} ${entry("Space", "run, pause")} ${entry(".", "a frame on")}
      ${entry(",", "a frame back")}
    </div>`;
}

export function extraControls(controls: LiveControls, held: Held, changed: () => void, tell: Tell): TemplateResult {
  return html`<div class="more">
    ${controls.others.map((one) =>
      one.span === "lasting" ? slider(one, held, changed) : one.span === "once" ? once(one, tell) : nothing,
    )}
  </div>`;
}

function slider(control: LiveControl, held: Held, changed: () => void): TemplateResult | typeof nothing {
  const [value] = control.values;
  if (!value || control.values.length > 1) return nothing;
  const move = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    held.lasting.set(control.name, input.value);
    (input.nextElementSibling as HTMLOutputElement).value = input.value;
    changed();
  };
  const now = held.lasting.get(control.name) ?? String(value.start);
  return html`<label
    >${control.name} <input type="range" min=${value.low} max=${value.high} step="0.05" .value=${now} @input=${move} />
    <output class="numbers" .value=${now}></output></label
  >`;
}

function once(control: LiveControl, tell: Tell): TemplateResult {
  if (!control.text) return html`<button type="button" @click=${() => tell("do", { what: control.name })}>${control.name}</button>`;
  const answer = (event: Event): void => {
    event.preventDefault();
    const text = new FormData(event.target as HTMLFormElement).get("text");
    if (typeof text === "string" && text) tell("do", { what: control.name, text });
  };
  return html`<form @submit=${answer}>
    <label>${control.name} <input type="text" name="text" maxlength="400" placeholder="answer for a keyboard" /></label>
    <button>Give</button>
  </form>`;
}
