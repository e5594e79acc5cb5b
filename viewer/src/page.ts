// The session of the page: its panels share the server, the address in the location, and the events.

import { store } from "./events/store";
import { Meshes } from "./mesh/asking";
import { server } from "./shared/api";
import { selection } from "./shared/selection";
import type { Session } from "./shared/session";
import { showPanel } from "./shared/show_panel";

export const page: Session = {
  asker: server,
  selection,
  store,
  meshes: new Meshes(server, store),
  scrolls: false,
  has: () => true,
  show: showPanel,
};
