// The colours of the page, for an element with a shadow: there the rules for the document's root are those for the host.

import text from "../../../src/pocketgpu/sweeps/report/assets/colours.css?inline";
import { unsafeCSS, type CSSResult } from "lit";

export function forHost(css: string): string {
  return css.replace(/:root(\[[^\]]*\])?/g, (_, attribute?: string) => (attribute ? `:host(${attribute})` : ":host"));
}

export const colours: CSSResult = unsafeCSS(forHost(text));
