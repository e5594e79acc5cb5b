// Groups of buttons of which one is chosen.

import { html, type TemplateResult } from "lit";

export function radio(text: string, chosen: boolean, choose: () => void, title: string): TemplateResult {
  return html`<button role="radio" aria-checked=${chosen} tabindex=${chosen ? 0 : -1} title=${title} @click=${choose}>${text}</button>`;
}

/** Arrow keys move within a group of radio buttons; the tab key passes over it in one step. */
export function radioKey(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const group = event.currentTarget as HTMLElement;
  const buttons = [...group.querySelectorAll<HTMLButtonElement>("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const next = buttons[(at + step + buttons.length) % buttons.length];
  next?.click();
  next?.focus();
  event.preventDefault();
}
