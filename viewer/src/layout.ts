// The places of the panels: dockview moves them, the browser's storage keeps them.

import { createDockview, type DockviewApi, type ITabRenderer, type TabPartInitParameters } from "dockview-core";

/** The number changes when old layouts no longer fit. */
const KEY = "pocketgpu.layout.1";

/** The panel whose tabs another one shares at first; narrow windows put those of `state` below the picture too. */
type Group = "events" | "picture" | "why" | "state";

export const PANELS: Record<string, { title: string; element: string; group: Group; offered?: boolean }> = {
  events: { title: "Events", element: "pg-events", group: "events" },
  picture: { title: "Picture", element: "pg-picture", group: "picture" },
  why: { title: "Why", element: "pg-why", group: "why" },
  state: { title: "State", element: "pg-state", group: "state" },
  words: { title: "Words", element: "pg-words", group: "state" },
  // Only there when a program is open: see `offer`.
  live: { title: "Program", element: "pg-live", group: "picture", offered: true },
};

type Width = "wide" | "narrow";

export class Layout {
  private readonly api: DockviewApi;
  /** Panels that are only there for some captures, and that this one has. */
  private readonly offers = new Set<string>();
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
  }

  /** Put the panels back where they are at first. */
  arrange(): void {
    const { clientWidth, clientHeight } = this.host;
    this.api.layout(clientWidth, clientHeight);
    this.api.clear();
    const add = (id: string, reference?: string, direction?: "right" | "below" | "within", inactive = false): void => {
      this.api.addPanel({
        id,
        component: id,
        title: PANELS[id]!.title,
        inactive,
        ...(reference && direction ? { position: { referencePanel: reference, direction } } : {}),
      });
    };
    add("events");
    add("picture", "events", "right");
    if (this.width === "wide") {
      add("why", "picture", "right");
      add("state", "why", "below");
    } else {
      add("why", "picture", "below");
      add("state", "why", "within", true);
    }
    for (const [id, { group, offered }] of Object.entries(PANELS)) {
      if (id !== group && (!offered || this.offers.has(id))) add(id, group, "within", true);
    }
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

  /** A panel that is not always there: whether it is now. A new one comes to the front of its group. */
  offer(id: string, there: boolean): void {
    const panel = this.api.getPanel(id);
    if (!there) {
      this.offers.delete(id);
      panel?.api.close();
      return;
    }
    this.offers.add(id);
    if (panel) return;
    const { title, group } = PANELS[id]!;
    this.api.addPanel({ id, component: id, title, position: { referencePanel: group, direction: "within" } });
  }

  /** Bring a panel to the front and move the focus into it. */
  activate(id: string): void {
    this.api.getPanel(id)?.api.setActive();
    const element = this.host.querySelector(PANELS[id]!.element);
    requestAnimationFrame(() =>
      element?.shadowRoot?.querySelector<HTMLElement>("[role=tree], pg-canvas, .screens, .scroll")?.focus(),
    );
  }

  private restore(): boolean {
    const kept = localStorage.getItem(`${KEY}.${this.width}`);
    if (!kept) return false;
    try {
      this.api.fromJSON(JSON.parse(kept));
      // A layout that lacks a panel is not whole.
      return Object.entries(PANELS).every(([id, { offered }]) => offered || this.api.getPanel(id));
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

function panelElement(name: string): HTMLElement {
  const element = document.createElement(PANELS[name]?.element ?? "div");
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
