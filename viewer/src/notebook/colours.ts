// The colours of the page, for an element with a shadow.

import text from "../../../src/pocketgpu/sweeps/report/assets/colours.css?inline";
import { unsafeCSS, type CSSResult } from "lit";
import { forHost } from "./for_host";

export const colours: CSSResult = unsafeCSS(forHost(text));
