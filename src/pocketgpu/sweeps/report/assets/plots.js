// Plots, drawn by Plotly when they are first seen: its script is 200 times as large as the others together.
"use strict";

report.plots = (() => {
  const { data, rows, count, el, plain, counted, load, shortName, by } = report;
  const MOST_POINTS = 3000;
  const MOST_BARS = 30;
  const MOST_LETTERS = 60;
  /** @type {Promise<void> | null} */
  let ready = null;

  // Plotly takes some HTML in texts: nothing of a report may be any.
  /** @param {string} text */
  const safe = (text) => plain(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  /** @param {string} text */
  const short = (text) => safe(text.length > MOST_LETTERS ? `...${text.slice(-MOST_LETTERS + 3)}` : text);

  function colours() {
    // A variable with light-dark() has to be asked of an element that uses it.
    const probe = el("span");
    document.body.append(probe);
    /** @param {string} name */
    const of = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    const found = { text: of("--text"), dim: of("--dim"), line: of("--line"), ground: of("--ground"), accent: of("--accent"),
      bad: of("--bad"), good: of("--good"), fill: of("--fill") };
    probe.remove();
    return found;
  }

  /** @param {Colours} use @param {Record<string, any>} more */
  function layout(use, more) {
    const axis = { gridcolor: use.line, zerolinecolor: use.line, linecolor: use.line, tickfont: { size: 11 }, automargin: true };
    const { xaxis, yaxis, ...rest } = more;
    return { font: { color: use.text, size: 12, family: "system-ui, sans-serif" }, paper_bgcolor: use.ground, plot_bgcolor: use.ground,
      margin: { t: 10, r: 10, b: 40, l: 50 }, hovermode: "closest", showlegend: false, dragmode: "pan",
      xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis }, ...rest };
  }

  /** @returns {Point[]} */
  const timed = () => rows.ms.map((value, index) => /** @type {Point} */ ([index, value ?? 0])).filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1]);

  // -- the plots: each a title, a note, traces, a layout, and the rows of its points --------------------------------
  /** @returns {Plot[]} */
  function all() {
    const use = colours();
    const times = timed();
    const points = times.slice(0, MOST_POINTS);
    const left = times.length > points.length ? ` The ${counted(times.length - points.length, data.noun)} that are faster are left out.` : "";
    return [slowest(use, times), byCapture(use, points, left), against(use, points, left), versions(use), features(use)].filter((one) => one !== null);
  }

  /** @param {Colours} use @param {Point[]} times @returns {Plot | null} */
  function slowest(use, times) {
    if (!times.length) return null;
    const once = data.works.includes("bench") ? "" : " Each was measured once: the first of a kind includes compiling (--do bench does not).";
    const bars = times.slice(0, MOST_BARS).reverse();
    return { title: `Slowest ${data.noun}s`, note: `Milliseconds of all frames.${once} Select a bar to see it in the list.`, height: 80 + bars.length * 18,
      rows: bars.map(([index]) => index),
      traces: [{ type: "bar", orientation: "h", x: bars.map(([, ms]) => ms), y: bars.map(([index]) => String(index)),
        hovertext: bars.map(([index]) => safe(shortName(index))), hovertemplate: "%{hovertext}<br>%{x:.2f} ms<extra></extra>", marker: { color: use.accent } }],
      layout: layout(use, { xaxis: { title: { text: "ms" } }, yaxis: { type: "category", tickvals: bars.map(([index]) => String(index)),
        ticktext: bars.map(([index]) => short(shortName(index))) } }) };
  }

  /** @param {Colours} use @param {Point[]} points @param {string} left @returns {Plot | null} */
  function byCapture(use, points, left) {
    if (points.length < 2) return null;
    const sorted = [...points].sort((a, b) => a[0] - b[0]);
    return { title: `Time by ${data.noun}`, note: `In the order of names.${left}`, rows: sorted.map(([index]) => index),
      traces: [{ type: "scatter", mode: "markers", x: sorted.map((_, at) => at), y: sorted.map(([, ms]) => ms),
        hovertext: sorted.map(([index]) => safe(shortName(index))), hovertemplate: "%{hovertext}<br>%{y:.2f} ms<extra></extra>",
        marker: { size: 5, color: use.accent, opacity: 0.7 } }],
      layout: layout(use, { xaxis: { title: { text: data.noun } }, yaxis: { type: "log", dtick: "D2", title: { text: "ms" } } }) };
  }

  /** @param {Colours} use @param {Point[]} points @param {string} left @returns {Plot | null} */
  function against(use, points, left) {
    /** @param {Point} point */
    const old = ([index]) => rows.before[index] ?? 0;
    const both = points.filter((point) => old(point) > 0);
    if (both.length < 2) return null;
    /** Slower, the same, faster. @param {Point} point */
    const outside = ([index]) => {
      const [ratio, band] = [rows.ratio[index], rows.band[index]];
      return ratio === null || band === null ? 0 : ratio > band ? 1 : ratio < 1 / band ? -1 : 0;
    };
    const ends = [Math.min(...both.map(old)), Math.max(...both.map(old))];
    return { title: "Time now, and of the baseline", note: `On the line nothing changed. Red and green are outside of the noise.${left}`,
      rows: both.map(([index]) => index), trace: 1,
      traces: [
        { type: "scatter", mode: "lines", x: ends, y: ends, line: { color: use.dim, width: 1, dash: "dot" }, hoverinfo: "skip" },
        { type: "scatter", mode: "markers", x: both.map(old), y: both.map(([, ms]) => ms),
          hovertext: both.map(([index]) => `${safe(shortName(index))}<br>${rows.ratio[index]}x`), hovertemplate: "%{hovertext}<br>%{x:.2f} -> %{y:.2f} ms<extra></extra>",
          marker: { size: 6, opacity: 0.8, color: both.map((one) => (outside(one) > 0 ? use.bad : outside(one) < 0 ? use.good : use.accent)) } }],
      layout: layout(use, { xaxis: { type: "log", dtick: "D2", title: { text: "ms of the baseline" } }, yaxis: { type: "log", dtick: "D2", title: { text: "ms now" } } }) };
  }

  /** @param {Colours} use @returns {Plot | null} */
  function versions(use) {
    const found = data.versions.filter(([, values]) => values.length);
    if (!found.length) return null;
    return { title: "Time by version", note: `All ${data.noun}s of each sweep. The box has the middle half.`, rows: [],
      traces: found.map(([name, values], at) => ({ type: "box", name: safe(name) || String(at), y: values.filter((value) => value > 0), boxpoints: "outliers",
        marker: { size: 3, color: at === found.length - 1 ? use.accent : use.dim } })),
      layout: layout(use, { yaxis: { type: "log", dtick: "D2", title: { text: "ms" } } }) };
  }

  /** @param {Colours} use @returns {Plot | null} */
  function features(use) {
    const counts = data.features.map(() => 0);
    for (const found of rows.features) for (const feature of found) counts[feature]++;
    const bars = counts.map((many, index) => /** @type {Point} */ ([index, many])).sort((a, b) => b[1] - a[1]).slice(0, 2 * MOST_BARS).reverse();
    if (!bars.length) return null;
    const more = counts.length > bars.length ? ` The ${counts.length - bars.length} rarest are left out.` : "";
    return { title: "Features that the corpus uses", note: `How many of ${counted(count, data.noun)} use each.${more}`, height: 80 + bars.length * 18, rows: [],
      traces: [{ type: "bar", orientation: "h", x: bars.map(([, many]) => many), y: bars.map(([index]) => String(index)),
        hovertext: bars.map(([index]) => safe(data.features[index])), hovertemplate: "%{hovertext}<br>%{x}<extra></extra>", marker: { color: use.fill } }],
      layout: layout(use, { yaxis: { type: "category", tickvals: bars.map(([index]) => String(index)), ticktext: bars.map(([index]) => short(data.features[index])) } }) };
  }

  /** Plotly makes style elements; the policy of the page lets those in that carry its number. */
  function letStylesIn() {
    const make = document.createElement.bind(document);
    document.createElement = (/** @type {string} */ name, /** @type {ElementCreationOptions | undefined} */ options) => {
      const found = make(name, options);
      if (String(name).toLowerCase() === "style") found.nonce = report.nonce;
      return found;
    };
  }

  // -- drawing ------------------------------------------------------------------------------------------------------
  /**
   * Draw all, the first time and when the colours change. onChoose: called with the row of a point.
   * @type {Report["plots"]["draw"]}
   */
  async function draw(onChoose) {
    const holder = by("plots");
    if (!ready) {
      holder.replaceChildren(el("p.note", { role: "status" }, "The plots are being drawn."));
      letStylesIn();
      ready = load(holder.dataset.script ?? "");
    }
    try {
      await ready;
    } catch (error) {
      holder.replaceChildren(el("p.problem", {}, `The plots cannot be drawn: ${String(error)}.`));
      return;
    }
    const plots = all();
    holder.replaceChildren(...(plots.length ? [] : [el("p.note", {}, "There are no times and no features to plot.")]));
    for (const plot of plots) {
      const box = el("div.plot", { role: "img", "aria-label": `${plot.title}. ${plot.note}` });
      box.style.height = `${plot.height ?? 340}px`;
      holder.append(el("figure", {}, el("figcaption", {}, el("h2", {}, plot.title), el("p.dim", {}, plot.note)), box));
      const drawn = await Plotly.newPlot(box, plot.traces, plot.layout, { responsive: true, displaylogo: false, scrollZoom: false,
        modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage"] });
      drawn.on("plotly_click", (event) => {
        const point = event.points[0];
        const row = point?.curveNumber === (plot.trace ?? 0) ? plot.rows[point.pointNumber] : undefined;
        if (row !== undefined) onChoose(row);
      });
    }
    holder.dataset.drawn = String(plots.length);
  }

  return { draw, get begun() { return ready !== null; } };
})();
