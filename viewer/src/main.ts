import "dockview-core/dist/styles/dockview.css";
import "./style.css";
import { applyTheme } from "./theme";
import "./events/events_panel";
import "./picture/picture_panel";
import "./why/why_panel";
import "./state/state_panel";
import "./words/words_panel";
import "./live/live_panel";
import "./app";

applyTheme();
