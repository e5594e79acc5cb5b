// Draws the figures of Plotly that a page holds as data, in the colours of the page: light or dark, also when these
// change.
"use strict";

(() => {
  const NONE = "rgba(0,0,0,0)";
  const CONFIG = { responsive: true, displaylogo: false };

  function colours() {
    const style = getComputedStyle(document.body);
    const named = (name) => style.getPropertyValue(name).trim();
    return {
      text: named("--color-foreground-primary"),
      line: named("--color-background-border"),
      ground: named("--color-background-secondary"),
      font: style.fontFamily,
    };
  }

  /** What of a layout depends on the page, as Plotly.relayout takes it. */
  function themed(layout) {
    const { text, line, ground, font } = colours();
    const found = { paper_bgcolor: NONE, plot_bgcolor: ground, "font.color": text, "font.family": font };
    const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
    for (const axis of new Set(["xaxis", "yaxis", ...axes])) {
      for (const part of ["gridcolor", "zerolinecolor", "linecolor"]) {
        found[`${axis}.${part}`] = line;
      }
    }
    return found;
  }

  function draw(place) {
    const figure = JSON.parse(place.querySelector("script").textContent);
    place.replaceChildren();
    const layout = { ...figure.layout, autosize: true };
    return Plotly.newPlot(place, figure.data, layout, CONFIG).then(() => Plotly.relayout(place, themed(layout)));
  }

  const places = [...document.querySelectorAll(".plotly-figure")];
  const again = () => places.forEach((place) => place.layout && Plotly.relayout(place, themed(place.layout)));
  Promise.all(places.map(draw)).then(() => {
    new MutationObserver(again).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    document.documentElement.dataset.figures = String(places.length);
  });
})();
