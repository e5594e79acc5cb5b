// The capture of the page and its events.

import { server } from "../shared/api";
import { EventsStore } from "./events_store";

export const store = new EventsStore(server);
