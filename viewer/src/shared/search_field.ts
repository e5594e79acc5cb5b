// The field of a panel's bar that filters what the panel lists.

import { html, type TemplateResult } from "lit";

/** label: for screen readers. set: is given the text at each change. key: is given keys that are pressed in it. */
export function searchField(
  placeholder: string,
  label: string,
  text: string,
  set: (text: string) => void,
  key: (event: KeyboardEvent) => void = () => {},
): TemplateResult {
  return html`<input
    class="grow filter"
    type="search"
    placeholder=${placeholder}
    aria-label=${label}
    .value=${text}
    @input=${(event: InputEvent) => set((event.target as HTMLInputElement).value)}
    @keydown=${key}
  />`;
}
