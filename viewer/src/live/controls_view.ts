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

export function keyTable(controls: LiveControls): TemplateResult {
  const rows = new Map(controls.keyboard.map(({ code, does }) => [keyName(code), does]));
  const touched = controls.displays.find((one) => one.touched);
  return html`<p>The focus must be on the screens. A gamepad works where the browser tells of one.</p>
    <div class="keys">
      ${[...rows].map(([name, does]) => html`<div><kbd>${name}</kbd> ${does}</div>`)}
      ${touched ? html`<div><kbd>pointer</kbd> touches ${touched.name}</div>` : nothing}
      <div><kbd>Space</kbd> run, stand</div>
      <div><kbd>. ,</kbd> a frame on, a frame back</div>
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
    held.lasting.set(control.name, (event.target as HTMLInputElement).value);
    changed();
  };
  return html`<label>${control.name} <input type="range" min=${value.low} max=${value.high} step="0.05" @input=${move} /></label>`;
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
