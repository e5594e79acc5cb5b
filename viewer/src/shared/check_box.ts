// A box to tick in a panel's bar.

import { html, nothing, type TemplateResult } from "lit";

export function checkBox(text: string, on: boolean, set: (on: boolean) => void, title = ""): TemplateResult {
  return html`<label title=${title || nothing}
    ><input type="checkbox" .checked=${on} @change=${(event: Event) => set((event.target as HTMLInputElement).checked)} />${text}</label
  >`;
}
