// Panels bring each other to the front without knowing the layout.

/** The event of the document that asks for it; its detail is the name of the panel. */
export const SHOW_PANEL = "pg-show-panel";

/** Bring a panel to the front of its group: its name in the table of layout.ts. */
export function showPanel(name: string): void {
  document.dispatchEvent(new CustomEvent<string>(SHOW_PANEL, { detail: name }));
}
