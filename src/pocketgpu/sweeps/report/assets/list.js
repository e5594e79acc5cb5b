// The list: filters, order, and rows of which only those exist that are to be seen.
"use strict";

report.list = (() => {
  const { data, rows, count, el, plain, number, milliseconds, shortName, by, field, kids } = report;
  const HEIGHT = 52;
  const SPARE = 6;
  /** @type {Record<string, string>} */
  const BADGES = { worse: "worse", state: "state", pictures: "pictures", findings: "findings", events: "events", values: "values", time: "time", new: "new" };
  const SELECTS = /** @type {("console" | "work" | "rule")[]} */ (["console", "work", "rule"]);
  const scroll = by("scroll");
  const space = by("space");
  const frame = by("window");

  // -- what the rows say, made once ---------------------------------------------------------------------------------
  const totals = rows.notes.map((notes) =>
    notes.reduce((sum, [rule, many]) => sum + (data.rules[rule].kind === "rule" ? many : 0), 0));
  const wrong = rows.notes.map((notes) => notes.some(([rule]) => data.rules[rule].kind === "rule" && data.rules[rule].severity === "error"));
  const events = rows.notes.map((notes, index) => notes.reduce((sum, [, many]) => sum + many, 0) - totals[index]);
  const searched = rows.capture.map((name, index) =>
    [name, rows.message[index], ...rows.notes[index].map(([rule]) => data.rules[rule].name)].join("\n").toLowerCase());

  // -- filters and order --------------------------------------------------------------------------------------------
  const filter = { text: "", states: /** @type {Set<number>} */ (new Set()), kinds: 0, console: "", work: "", rule: "" };
  const order = { column: "", down: false };
  /** Name, title, and what rows are sorted by. @type {[string, string, (index: number) => string | number][]} */
  const COLUMNS = [
    ["capture", "Name", (index) => rows.capture[index]],
    ["state", "State", (index) => rows.state[index]],
    ["kinds", "Changed", (index) => -rows.kinds[index].toString(2).replace(/0/g, "").length],
    ["notes", "Findings", (index) => -totals[index] - (wrong[index] ? 1e9 : 0)],
    ["frames", "Frames", (index) => -rows.frames[index]],
    ["ms", "ms", (index) => -(rows.ms[index] ?? -1)],
    ["ratio", "Time", (index) => -Math.abs(Math.log(rows.ratio[index] ?? 1))],
  ];
  const columns = COLUMNS.filter(([name]) => data.compared || !["kinds", "ratio"].includes(name));
  /** @type {number[]} */
  let shown = [];
  let chosen = -1;
  /** @type {(index: number) => void} */
  let onChoose = () => undefined;

  /** @param {number} index */
  function passes(index) {
    return (!filter.states.size || filter.states.has(rows.state[index]))
      && (!filter.kinds || (rows.kinds[index] & filter.kinds) !== 0)
      && (filter.console === "" || rows.console[index] === Number(filter.console))
      && (filter.work === "" || rows.work[index] === Number(filter.work))
      && (filter.rule === "" || rows.notes[index].some(([rule]) => rule === Number(filter.rule)))
      && filter.text.split(/\s+/).every((word) => searched[index].includes(word));
  }

  /** Apply the filters and the order. */
  function renew() {
    shown = [];
    for (let index = 0; index < count; index++) if (passes(index)) shown.push(index);
    const column = columns.find(([name]) => name === order.column);
    if (column) {
      const keys = rows.capture.map((_, index) => column[2](index));
      /** @type {(a: number, b: number) => number} */
      const compare = (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b);
      shown.sort(order.down ? (a, b) => compare(b, a) : compare);
    }
    by("count").textContent = shown.length === count ? report.counted(count, data.noun) : `${number(shown.length)} of ${report.counted(count, data.noun)}`;
    scroll.setAttribute("aria-rowcount", String(shown.length));
    space.style.height = `${shown.length * HEIGHT}px`;
    draw(true);
  }

  // -- rows ---------------------------------------------------------------------------------------------------------
  let first = -1;
  let last = -1;
  function draw(again = false) {
    const from = Math.max(0, Math.floor(scroll.scrollTop / HEIGHT) - SPARE);
    const to = Math.min(shown.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / HEIGHT) + SPARE);
    if (!again && from === first && to === last) return;
    [first, last] = [from, to];
    frame.style.transform = `translateY(${from * HEIGHT}px)`;
    frame.replaceChildren(...shown.slice(from, to).map((index, at) => row(index, from + at)));
    if (!shown.length) frame.replaceChildren(el("p.note", {}, `No ${data.noun} passes the filters.`));
    const there = shown.indexOf(chosen);
    if (there >= from && there < to) scroll.setAttribute("aria-activedescendant", `row-${chosen}`);
    else scroll.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  function badges(index) {
    return data.kinds.filter((_, bit) => rows.kinds[index] & (1 << bit))
      .map((kind) => el(`span.badge.${kind}`, {}, BADGES[kind]));
  }

  /** @param {number} index @param {number} at */
  function row(index, at) {
    const state = data.states[rows.state[index]];
    const picture = rows.thumbnail[index]
      ? el("img", { src: rows.thumbnail[index], alt: "", decoding: "async" }) : el("span.nothing");
    const name = plain(shortName(index));
    const cut = Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1;
    const ratio = rows.ratio[index];
    const band = rows.band[index];
    const outside = ratio !== null && band !== null && (ratio > band || ratio < 1 / band);
    /** @type {Record<string, HTMLElement>} */
    const cells = {
      capture: el("span.cell.capture", { role: "gridcell", title: plain(rows.capture[index]) },
        el("span.name", {}, el("b", {}, name.slice(cut)), el("span.folder", {}, name.slice(0, cut))),
        el("span.dim.line", {}, plain(rows.message[index]) || data.consoles[rows.console[index]])),
      state: el("span.cell.c-state", { role: "gridcell" }, el(`span.state.${state}`, {}, state)),
      kinds: el("span.cell.badges.c-kinds", { role: "gridcell" }, ...badges(index)),
      notes: el(`span.cell.end.c-notes${wrong[index] ? ".wrong" : ""}`, {
        role: "gridcell", title: wrong[index] ? "with an error" : null,
      }, totals[index] ? number(totals[index]) : ""),
      frames: el("span.cell.end.c-frames", { role: "gridcell" }, number(rows.frames[index])),
      ms: el("span.cell.end.c-ms", { role: "gridcell" }, rows.ms[index] === null ? "" : milliseconds(rows.ms[index])),
      ratio: el(`span.cell.end.c-ratio${outside ? (ratio > 1 ? ".slower" : ".faster") : ""}`, { role: "gridcell" }, ratio === null ? "" : `${ratio.toFixed(2)}x`),
    };
    return el("div.row", {
      role: "row", id: `row-${index}`, "aria-rowindex": at + 1, "aria-selected": String(index === chosen),
      click: () => choose(index),
    }, el("span.cell.thumb", { role: "gridcell" }, picture), ...columns.map(([column]) => cells[column]));
  }

  /** Choose a row, and scroll to it. quiet: without telling others. @type {List["choose"]} */
  function choose(index, quiet = false) {
    chosen = index;
    const at = shown.indexOf(index);
    if (at >= 0) {
      const top = at * HEIGHT;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (top + HEIGHT > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + HEIGHT - scroll.clientHeight;
    }
    draw(true);
    if (!quiet) onChoose(index);
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const page = Math.max(1, Math.floor(scroll.clientHeight / HEIGHT) - 1);
    /** @type {Record<string, number>} */
    const moves = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -count, End: count };
    if (event.key === "Enter") by("details").focus();
    else if (event.key in moves && !event.ctrlKey && !event.altKey && !event.metaKey && shown.length) {
      const at = shown.indexOf(chosen);
      const to = at < 0 ? (moves[event.key] < 0 && event.key !== "Home" ? shown.length - 1 : event.key === "End" ? shown.length - 1 : 0) : at + moves[event.key];
      choose(shown[Math.max(0, Math.min(shown.length - 1, to))]);
    } else return;
    event.preventDefault();
  }

  // -- the form -----------------------------------------------------------------------------------------------------
  /** @type {(holder: HTMLElement, label: string, many: number, toggle: (on: boolean) => void, kind: string) => void} */
  function chip(holder, label, many, toggle, kind) {
    const button = el(`button.chip.${kind}`, { type: "button", "aria-pressed": "false" }, `${label} `, el("b", {}, number(many)));
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      toggle(on);
      changed();
    });
    holder.append(button);
  }
  /** @type {() => void} */
  let onChange = () => undefined;
  function changed() {
    renew();
    onChange();
  }

  /** @param {HTMLElement} select @param {string[]} names @param {Set<number>} used */
  function options(select, names, used) {
    names.forEach((name, index) => used.has(index) && select.append(el("option", { value: index }, plain(name))));
    /** @type {HTMLElement} */ (select.parentElement).hidden = used.size < 2;
  }

  function build() {
    data.states.forEach((state, index) => {
      const many = rows.state.filter((one) => one === index).length;
      if (many) chip(by("states"), state, many, (on) => (on ? filter.states.add(index) : filter.states.delete(index)), `state-${state}`);
    });
    data.kinds.forEach((kind, bit) => {
      const many = rows.kinds.filter((one) => one & (1 << bit)).length;
      if (many) chip(by("kinds"), BADGES[kind], many, (on) => (filter.kinds = on ? filter.kinds | (1 << bit) : filter.kinds & ~(1 << bit)), `kind-${kind}`);
    });
    options(by("console"), data.consoles, new Set(rows.console));
    options(by("work"), data.works, new Set(rows.work));
    const rules = data.rules.map((rule, index) => /** @type {[string, number]} */ ([rule.name, index])).sort((a, b) => (a[0] < b[0] ? -1 : 1));
    for (const [name, index] of rules) by("rule").append(el("option", { value: index }, plain(name)));
    /** @type {HTMLElement} */ (by("rule").parentElement).hidden = !rules.length;
    for (const name of SELECTS) by(name).addEventListener("change", () => { filter[name] = field(name).value; changed(); });
    by("text").addEventListener("input", () => { filter.text = field("text").value.toLowerCase().trim(); changed(); });
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    by("filters").addEventListener("reset", () => setTimeout(clear));
    for (const [name, label] of columns) {
      const button = el(`button.cell.c-${name}`, { type: "button", click: () => sort(name) }, label);
      button.dataset.column = name;
      by("head").append(button);
    }
    scroll.closest(".list")?.classList.toggle("compared", data.compared);
    scroll.closest(".list")?.classList.toggle("bare", !rows.thumbnail.some((one) => one));
    scroll.addEventListener("scroll", () => draw(), { passive: true });
    scroll.addEventListener("keydown", onKey);
    new ResizeObserver(() => {
      by("head").style.paddingRight = `${10 + scroll.offsetWidth - scroll.clientWidth}px`;
      draw();
    }).observe(scroll);
    renew();
  }

  /** @param {string} name */
  function sort(name) {
    order.down = order.column === name && !order.down;
    order.column = name;
    for (const button of kids(by("head"))) {
      const own = button.dataset.column === name;
      button.classList.toggle("up", own && !order.down);
      button.classList.toggle("down", own && order.down);
      button.setAttribute("aria-pressed", String(own));
    }
    changed();
  }

  function clear() {
    Object.assign(filter, { text: "", kinds: 0, console: "", work: "", rule: "" });
    filter.states.clear();
    for (const one of document.querySelectorAll(".chip")) one.setAttribute("aria-pressed", "false");
    changed();
  }

  /** Show the rows with a rule only. @type {List["showRule"]} */
  function showRule(rule) {
    for (const name of ["text", ...SELECTS]) field(name).value = "";
    clear();
    field("rule").value = String(rule);
    filter.rule = String(rule);
    changed();
  }

  return {
    build, choose, showRule, totals, events, BADGES, focus: () => scroll.focus(),
    get first() { return shown[0]; }, get chosen() { return chosen; }, get length() { return shown.length; },
    set onChoose(/** @type {(index: number) => void} */ call) { onChoose = call; },
    set onChange(/** @type {() => void} */ call) { onChange = call; },
  };
})();
