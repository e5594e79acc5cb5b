// Elements by their names. In a notebook each widget brings its own copy of the script: the first one names them.

export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
