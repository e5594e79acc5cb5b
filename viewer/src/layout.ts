// The places of the panels: dockview moves them, the browser's storage keeps them.

import { createDockview, type DockviewApi, type ITabRenderer, type TabPartInitParameters } from "dockview-core";
import { store } from "./events/store";
import { sides } from "./compare/sides";
import { page } from "./page";
import type { Panel } from "./shared/panel";

/** The number changes when old layouts no longer fit. */
const KEY = "pocketgpu.layout.1";

/** The panel whose tabs another one shares at first; narrow windows put those of `state` below the picture too. */
type Group = "events" | "picture" | "why" | "state";

interface PanelKind {
  title: string;
  group: Group;
  /** It comes to the front as soon as it has something to show. */
  front?: boolean;
  /** Whether the panel has anything to show; without it, always. */
  applies?: () => boolean;
}

/** By name, in the order of the keys F1 to F9. The element of a panel is `pg-` and its name. */
export const PANELS: Record<string, PanelKind> = {
  events: { title: "Events", group: "events" },
  picture: { title: "Picture", group: "picture" },
  why: { title: "Why", group: "why" },
  state: { title: "State", group: "state" },
  shader: { title: "Shader", group: "why" },
  words: { title: "Words", group: "state" },
  mesh: { title: "Mesh", group: "picture" },
  resources: { title: "Resources", group: "picture" },
  memory: { title: "Memory", group: "picture" },
  graph: { title: "Frame graph", group: "picture" },
  notes: { title: "Notes", group: "events" },
  timeline: { title: "Timeline", group: "state" },
  whatif: { title: "What if", group: "state" },
  compare: { title: "Compare", group: "picture", applies: () => sides.other !== null },
  live: { title: "Program", group: "picture", front: true, applies: () => store.capture?.live ?? false },
};

/** The names of the panels that have something to show. */
function applying(): string[] {
  return Object.keys(PANELS).filter((id) => PANELS[id]!.applies?.() ?? true);
}

type Width = "wide" | "narrow";

export class Layout {
  private readonly api: DockviewApi;
  private readonly width: Width = innerWidth >= 1100 ? "wide" : "narrow";

  constructor(private readonly host: HTMLElement) {
    this.api = createDockview(host, {
      createComponent: ({ name }) => ({
        element: panelElement(name),
        init: () => {},
      }),
      createTabComponent: () => new Tab(),
      defaultTabComponent: "tab",
      theme: { name: "pocketgpu", className: "dockview-theme-pocketgpu" },
      disableFloatingGroups: true,
      scrollbars: "native",
    });
    if (!this.restore()) this.arrange();
    this.api.onDidLayoutChange(() => {
      this.keep();
      this.name();
    });
    this.name();
    host.addEventListener("keydown", (event) => this.key(event));
    sides.addEventListener("change", () => this.fill());
    store.addEventListener("change", () => this.fill());
  }

  /** Add panels that have something to show now, and take away those that have nothing any more. */
  fill(): void {
    const wanted = applying();
    for (const id of Object.keys(PANELS)) {
      const panel = this.api.getPanel(id);
      if (panel && !wanted.includes(id)) this.api.removePanel(panel);
      else if (!panel && wanted.includes(id)) this.add(id, PANELS[id]!.group, "within", !PANELS[id]!.front);
    }
    this.name();
  }

  private add(id: string, reference?: string, direction?: "right" | "below" | "within", inactive = false): void {
    this.api.addPanel({
      id,
      component: id,
      title: PANELS[id]!.title,
      inactive,
      ...(reference && direction ? { position: { referencePanel: reference, direction } } : {}),
    });
  }

  /** Put the panels back where they are at first. */
  arrange(): void {
    const { clientWidth, clientHeight } = this.host;
    this.api.layout(clientWidth, clientHeight);
    this.api.clear();
    this.add("events");
    this.add("picture", "events", "right");
    if (this.width === "wide") {
      this.add("why", "picture", "right");
      this.add("state", "why", "below");
    } else {
      this.add("why", "picture", "below");
      this.add("state", "why", "within", true);
    }
    this.fill();
    const size = (id: string, width?: number, height?: number): void => {
      this.api.getPanel(id)?.api.setSize({ ...(width ? { width } : {}), ...(height ? { height } : {}) });
    };
    if (this.width === "wide") {
      size("events", Math.round(clientWidth * 0.25));
      size("why", Math.round(clientWidth * 0.34), Math.round(clientHeight * 0.5));
    } else {
      size("events", Math.round(clientWidth * 0.36));
      size("why", undefined, Math.round(clientHeight * 0.42));
    }
    this.keep();
    this.name();
  }

  /** Bring a panel to the front and move the focus into it. */
  activate(id: string): void {
    if (!this.api.getPanel(id)) return;
    this.api.getPanel(id)?.api.setActive();
    const element = this.host.querySelector(elementOf(id));
    requestAnimationFrame(() =>
      element?.shadowRoot?.querySelector<HTMLElement>("[role=tree], pg-canvas, .screens, .scroll")?.focus(),
    );
  }

  private restore(): boolean {
    const kept = localStorage.getItem(`${KEY}.${this.width}`);
    if (!kept) return false;
    try {
      this.api.fromJSON(JSON.parse(kept));
      // A layout that lacks a panel that is always there is not whole.
      if (!Object.keys(PANELS).every((id) => PANELS[id]!.applies || this.api.getPanel(id))) return false;
      this.fill();
      return true;
    } catch {
      return false;
    }
  }

  private keep(): void {
    localStorage.setItem(`${KEY}.${this.width}`, JSON.stringify(this.api.toJSON()));
  }

  /** Roles of the tabs, which dockview does not give. */
  private name(): void {
    for (const list of this.host.querySelectorAll<HTMLElement>(".dv-tabs-container")) {
      list.setAttribute("role", "tablist");
    }
    for (const tab of this.host.querySelectorAll<HTMLElement>(".dv-tab")) {
      const active = tab.classList.contains("dv-active-tab");
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(active));
      tab.tabIndex = active ? 0 : -1;
    }
  }

  /** Arrow keys move along the tabs of a group, as in other programs. */
  private key(event: KeyboardEvent): void {
    const tab = (event.target as HTMLElement).closest?.<HTMLElement>(".dv-tab");
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!tab || (!step && event.key !== "Enter" && event.key !== " ")) return;
    const tabs = [...tab.parentElement!.querySelectorAll<HTMLElement>(".dv-tab")];
    const next = tabs[(tabs.indexOf(tab) + (step ?? 0) + tabs.length) % tabs.length]!;
    const id = next.querySelector<HTMLElement>("[data-panel]")?.dataset["panel"];
    if (id) this.api.getPanel(id)?.api.setActive();
    next.focus();
    event.preventDefault();
  }
}

function elementOf(name: string): string {
  return `pg-${name}`;
}

function panelElement(name: string): HTMLElement {
  const element = document.createElement(elementOf(name)) as Panel;
  element.session = page;
  element.setAttribute("role", "tabpanel");
  element.setAttribute("aria-label", PANELS[name]?.title ?? name);
  return element;
}

/** A tab without a button to close it: every panel stays. */
class Tab implements ITabRenderer {
  readonly element = document.createElement("div");

  init(parameters: TabPartInitParameters): void {
    this.element.className = "tab-title";
    this.element.textContent = parameters.title;
    this.element.dataset["panel"] = parameters.api.id;
  }
}
