// What the panels of one place share: a page, or a widget in a notebook, of which there may be several in a document.

import type { EventsStore } from "../events/events_store";
import type { Meshes } from "../mesh/asking";
import type { Asker } from "./asker";
import type { Selection } from "./selections";

export interface Session {
  asker: Asker;
  selection: Selection;
  store: EventsStore;
  meshes: Meshes;
  /** Whether the panels lie in a document that the wheel scrolls. */
  scrolls: boolean;
  /** Whether there is a panel of that name. */
  has(panel: string): boolean;
  /** Bring a panel to the front. */
  show(panel: string): void;
}
