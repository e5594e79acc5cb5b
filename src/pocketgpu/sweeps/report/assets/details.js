// What is known of one row: commands, pictures, findings, events, values, times.
"use strict";

report.show = (() => {
  const { data, rows, el, plain, lines, number, counted, milliseconds, command, details, severity, by, kids, picturePlace } = report;
  const MOST_STRIP = 60;
  /** @type {Place} */
  let current = { index: -1, at: "", pixel: null };
  /** @type {(place: Place) => void} */
  let onPlace = () => undefined;

  /** Show a row. at: of a picture; pixel: [x, y] of it. @type {Report["show"]["show"]} */
  async function show(index, at = "", pixel = null) {
    const holder = by("details");
    current = { index, at, pixel };
    holder.setAttribute("aria-busy", "true");
    /** @type {Details} */
    let found;
    try {
      found = await details(index);
    } catch (error) {
      if (current.index === index) holder.replaceChildren(el("p.problem", {}, `The details cannot be read: ${String(error)}.`));
      return;
    } finally {
      holder.removeAttribute("aria-busy");
    }
    if (current.index !== index) return;
    const state = data.states[rows.state[index]];
    const kinds = data.kinds.filter((_, bit) => rows.kinds[index] & (1 << bit));
    holder.scrollTop = 0;
    holder.replaceChildren(
      el("h2", {}, plain(rows.capture[index])),
      el("p.facts", {}, el(`span.state.${state}`, {}, state), ` ${data.consoles[rows.console[index]]}, ${counted(rows.frames[index], "frame")} `,
        ...kinds.map((kind) => el(`span.badge.${kind}`, {}, kind === "new" ? "not in the baseline" : kind === "worse" ? "worse" : `${kind} changed`))),
      ...problem(found),
      ...pictures(found),
      ...notes("Findings", found.findings, found),
      ...notes("Events", found.events, found),
      ...values(found),
      ...times(found, index),
      ...pairs("Counts", found.counts),
      ...pairs("Details", found.details),
      ...features(found),
      ...pairs("Run", found.ran ?? []),
    );
  }

  /** @param {Details} found */
  function problem(found) {
    const [message, location, hint] = found.state;
    const out = [];
    if (message) {
      out.push(el("div.problem", {}, el("p", {}, lines(message)), location ? el("p.dim", {}, `at: ${plain(location)}`) : null,
        hint ? el("p.dim", {}, `try: ${lines(hint)}`) : null));
    }
    if (found.was) out.push(el("p.dim", {}, `before: ${plain(found.was[0])}${found.was[1] ? `: ${plain(found.was[1])}` : ""}`));
    return out;
  }

  // -- pictures and commands ----------------------------------------------------------------------------------------
  /** @param {Details} found */
  function pictures(found) {
    const holder = el("div.shown");
    const commands = el("div.commands");
    const strip = el("div.strip", { role: "group", "aria-label": "Pictures" });
    /** @type {PictureView | null} */
    let view = null;
    /** @type {Shown | undefined} */
    let picture = found.pictures.find((one) => one.at === current.at)
      ?? found.pictures.reduce((best, one) => (share(one) > share(best) ? one : best), found.pictures[0]);

    function address() {
      const frame = picture ? picture.at.split("/")[0] : "f0";
      return current.pixel && picture ? `${picture.at}/px${current.pixel.join(",")}` : frame;
    }
    function offer() {
      const words = `${found.file} ${address()}${found.options ? ` ${found.options}` : ""}`;
      commands.replaceChildren(command(`pocketgpu view ${words}`),
        current.pixel && picture ? command(`pocketgpu why ${words}`)
          : el("p.dim", {}, picture ? "Choose a pixel of the picture for its address, and the command that explains it." : ""));
    }
    /** @param {Shown} one @param {Pixel | null} pixel */
    function choose(one, pixel = null) {
      picture = one;
      current.at = one.at;
      current.pixel = pixel;
      view = report.pictures.view(one, pixel, (chosen) => { current.pixel = chosen; offer(); onPlace(current); });
      holder.replaceChildren(view);
      for (const button of kids(strip)) button.setAttribute("aria-pressed", String(button.dataset.at === one.at));
      offer();
    }
    const shown = found.pictures.slice(0, MOST_STRIP);
    for (const one of shown) {
      const digest = one.after ?? one.before;
      const thumb = digest ? el("img", {
        src: thumbnail(digest), alt: "", loading: "lazy", decoding: "async",
        error: ({ target }) => { if (!target.src.endsWith(`${digest}.png`)) target.src = picturePlace(digest); },
      }) : el("span.nothing");
      const button = el(`button${one.change ? ".changed" : ""}`, {
        type: "button", title: plain(one.text ?? one.at), "aria-label": plain(one.text ?? `Picture ${one.at}`),
        click: () => { choose(one); onPlace(current); },
      }, thumb, el("span", {}, one.at));
      button.dataset.at = one.at;
      strip.append(button);
    }
    if (picture) choose(picture, current.at === picture.at ? current.pixel : null);
    else offer();
    step = (by) => {
      const next = picture && found.pictures[found.pictures.indexOf(picture) + by];
      if (next) { choose(next); onPlace(current); }
    };
    turn = (key) => view?.turn(key);
    const left = found.left ? el("p.dim", {}, `${counted(found.left, "picture")} more, not shown here`) : null;
    return picture ? [holder, found.pictures.length > 1 ? strip : "", left ?? "", commands] : [commands];
  }
  /** @type {(by: number) => void} */
  let step = () => undefined;
  /** @type {(key: string) => void} */
  let turn = () => undefined;

  /** How many pixels of a picture changed. @param {Shown} one */
  function share(one) {
    const count = /^\S+ ([\d,]+) of/.exec(one.text ?? "");
    return count ? Number((count[1] ?? "").replace(/,/g, "")) : one.change ? 1 : 0;
  }
  const kind = (rows.thumbnail.find((one) => one) ?? ".webp").split(".").pop();
  /** @param {string} digest */
  const thumbnail = (digest) => `thumbnails/${digest.slice(0, 2)}/${digest}.${kind}`;

  // -- tables -------------------------------------------------------------------------------------------------------
  /** @param {string} title @param {Notes} found @param {Details} row */
  function notes(title, found, row) {
    if (!found.shown.length) return [];
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...["", title === "Findings" ? "rule" : "event", "what", "where", "count"].map((name) => el("th", { scope: "col" }, name)))));
    const body = el("tbody");
    for (const [name, level, message, at, isAddress, many, change] of found.shown) {
      /** @type {HTMLElement} */
      const where = el("td", {}, isAddress ? el("button.link", {
        type: "button", "aria-label": `Commands for ${at}`, "aria-expanded": "false", click: () => unfold(line, where, row, at),
      }, at) : plain(at));
      /** @type {HTMLElement} */
      const line = el(`tr${change ? `.${change}` : ""}`, {},
        el("td", {}, level ? el(`span.level.${severity(level)}`, {}, plain(level)) : null, change ? el(`span.badge.${change}`, {}, change) : null),
        el("td.mono", {}, plain(name)), el("td", {}, lines(message)), where, el("td.end", {}, plain(many)));
      body.append(line);
    }
    table.append(body);
    return [el("h3", {}, title), table, found.left > 0 ? el("p.dim", {}, `${number(found.left)} more, not shown here`) : ""];
  }

  /**
   * The commands about a place, in a row of their own.
   * @param {HTMLElement} line @param {HTMLElement} where @param {Details} row @param {string} at
   */
  function unfold(line, where, row, at) {
    const button = where.querySelector("button");
    const open = button?.getAttribute("aria-expanded") === "true";
    button?.setAttribute("aria-expanded", String(!open));
    if (open) line.nextElementSibling?.remove();
    else {
      const words = `${row.file} ${at}${row.options ? ` ${row.options}` : ""}`;
      line.after(el("tr.unfolded", {}, el("td", { colspan: 5 }, command(`pocketgpu view ${words}`), command(`pocketgpu why ${words}`))));
    }
  }

  /** @param {Details} found */
  function values(found) {
    if (!found.values.length) return [];
    return [el("h3", {}, "Counts and details that changed"), el("table", {},
      el("thead", {}, el("tr", {}, ...["", data.labels[0], data.labels[1]].map((name) => el("th", { scope: "col" }, plain(name))))),
      el("tbody", {}, ...found.values.map(([name, before, after]) =>
        el("tr", {}, el("th", { scope: "row" }, plain(name)), el("td.old", {}, lines(before)), el("td.fresh", {}, lines(after))))))];
  }

  /** @param {string} title @param {Pair[]} found */
  function pairs(title, found) {
    if (!found.length) return [];
    return [el("h3", {}, title), el("dl", {}, ...found.flatMap(([name, value]) => [el("dt", {}, plain(name)), el("dd", {}, lines(value))]))];
  }

  /** @param {Details} found */
  function features(found) {
    if (!found.features.length) return [];
    return [el("h3", {}, "Features"), el("ul", {}, ...found.features.map((one) => el("li", {}, plain(one))))];
  }

  /** @param {Details} found @param {number} index */
  function times(found, index) {
    const all = found.times;
    if (!all.length) return [];
    const most = Math.max(...all);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${all.length} 40`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Milliseconds of ${counted(all.length, "frame")}, at most ${milliseconds(most)}`);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", all.map((one, at) => { const top = (40 - (most ? (38 * one) / most : 0)).toFixed(2); return `M${at} 40V${top}H${at + 1}V40Z`; }).join(""));
    svg.append(path);
    const sum = rows.ms[index] ?? 0;
    const text = found.time ? plain(found.time) : `${milliseconds(sum)} ms`;
    const more = `${text}; ${milliseconds(sum / all.length)} ms a frame, the slowest ${milliseconds(most)} ms (f${all.indexOf(most)})`;
    return [el("h3", {}, "Time"), el("p", {}, more), all.length > 1 ? el("div.bars", {}, svg) : ""];
  }

  return {
    show, step: (/** @type {number} */ by) => step(by), turn: (/** @type {string} */ key) => turn(key),
    set onPlace(/** @type {(place: Place) => void} */ call) { onPlace = call; },
  };
})();
