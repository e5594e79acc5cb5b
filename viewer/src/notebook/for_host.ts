// Rules for the root of a document, as rules for the host of a shadow.

export function forHost(css: string): string {
  return css.replace(/:root(\[[^\]]*\])?/g, (_, attribute?: string) => (attribute ? `:host(${attribute})` : ":host"));
}
