// Dark or light: what the notebook says, or else what the system asks for.

interface Body {
  dataset: Record<string, string | undefined>;
}

/** body: of the document. asked: whether the system asks for dark colours. */
export function isDark(body: Body, asked: boolean): boolean {
  const { jpThemeLight, vscodeThemeKind } = body.dataset;
  if (jpThemeLight === "true" || jpThemeLight === "false") return jpThemeLight === "false";
  if (vscodeThemeKind) return vscodeThemeKind !== "vscode-light" && vscodeThemeKind !== "vscode-high-contrast-light";
  return asked;
}

/** Give an element its colours, now and whenever the notebook changes its own. Returns what ends that. */
export function followTheme(element: HTMLElement): () => void {
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    element.dataset["theme"] = isDark(document.body, asked.matches) ? "dark" : "light";
  };
  const watching = new MutationObserver(apply);
  watching.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  asked.addEventListener("change", apply);
  apply();
  return () => {
    watching.disconnect();
    asked.removeEventListener("change", apply);
  };
}
