import "dockview-core/dist/styles/dockview.css";
import "./style.css";
import { applyTheme } from "./theme";
import "./events/events_panel";
import "./mesh/mesh_panel";
import "./picture/picture_panel";
import "./why/why_panel";
import "./state/state_panel";
import "./words/words_panel";
import "./notes/notes_panel";
import "./graph/graph_panel";
import "./timeline/timeline_panel";
import "./shader/shader_panel";
import "./resources/resources_panel";
import "./memory/memory_panel";
import "./app";

applyTheme();
