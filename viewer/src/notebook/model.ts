// The part of anywidget's interface that the widget uses: https://anywidget.dev/en/afm/

export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown, callbacks?: unknown, buffers?: ArrayBuffer[]): void;
  on(name: string, call: (...values: never[]) => void): void;
  off(name: string, call: (...values: never[]) => void): void;
}

export interface Given {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}
