// Dark or light: what the system asks for, until the switch says otherwise.

const KEY = "pocketgpu.theme";

export type Theme = "system" | "dark" | "light";

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "dark" || kept === "light" ? kept : "system";
}

export function setTheme(value: Theme): void {
  if (value === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, value);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}
