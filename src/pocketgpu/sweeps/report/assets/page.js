// The page: its parts, its address, keys, colours.
"use strict";

(() => {
  const { data, rows, el, plain, number, by, field, list, show, plots, severity } = report;
  const MOST_RULES = 500;
  /** @type {{ tab: string, row: number, at: string, pixel: Pixel | null }} */
  const place = { tab: "rows", row: -1, at: "", pixel: null };
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tab]")]);

  // -- the address --------------------------------------------------------------------------------------------------
  function write() {
    const found = new URLSearchParams();
    if (place.tab !== "rows") found.set("tab", place.tab);
    if (place.row >= 0) found.set("name", rows.capture[place.row]);
    if (place.at) found.set("at", place.pixel ? `${place.at}/px${place.pixel.join(",")}` : place.at);
    const text = found.toString();
    if (text !== location.hash.slice(1)) history.replaceState(null, "", `#${text}`);
  }
  function read() {
    const found = new URLSearchParams(location.hash.slice(1));
    const tab = found.get("tab") ?? "rows";
    const pixel = /^(.+)\/px(\d{1,5}),(\d{1,5})$/.exec(found.get("at") ?? "");
    const row = rows.capture.indexOf(found.get("name") ?? "");
    open(tabs.some((one) => one.id === `tab-${tab}`) ? tab : "rows");
    select(row >= 0 ? row : list.first ?? -1, pixel ? pixel[1] : found.get("at") ?? "", pixel ? [Number(pixel[2]), Number(pixel[3])] : null);
  }
  /** @param {number} row @param {string} at @param {Pixel | null} pixel */
  function select(row, at = "", pixel = null) {
    Object.assign(place, { row, at, pixel });
    if (row < 0) return;
    list.choose(row, true);
    void show.show(row, at, pixel);
  }

  // -- parts --------------------------------------------------------------------------------------------------------
  /** @param {string} name */
  function open(name) {
    place.tab = name;
    for (const tab of tabs) {
      const own = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own ? 0 : -1;
      by(tab.getAttribute("aria-controls") ?? "").hidden = !own;
    }
    if (name === "rules") rules();
    if (name === "plots") void plots.draw(toRow);
  }
  /** @param {number} row */
  function toRow(row) {
    open("rows");
    select(row);
    write();
    list.focus();
  }
  for (const tab of tabs) {
    tab.addEventListener("click", () => { open(tab.id.slice(4)); write(); });
    tab.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (!step) return;
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }

  /** All rules and events, with how many rows have them. */
  function rules() {
    const holder = by("rules");
    if (holder.childElementCount) return;
    const found = data.rules.map((rule, index) => ({ ...rule, index, rows: 0, count: 0 }));
    for (const notes of rows.notes) for (const [rule, many] of notes) { found[rule].rows++; found[rule].count += many; }
    /** @type {string[]} */
    const ranks = ["error", "warning", "note"];
    found.sort((a, b) => Number(a.kind === "event") - Number(b.kind === "event") || ranks.indexOf(severity(a.severity)) - ranks.indexOf(severity(b.severity)) || b.rows - a.rows);
    for (const [kind, title] of [["rule", "Findings of rules"], ["event", "Events of the replay"]]) {
      const own = found.filter((one) => one.kind === kind);
      if (!own.length) continue;
      const most = Math.max(...own.map((one) => one.rows));
      holder.append(el("h2", {}, title), el("table.rules", {},
        el("thead", {}, el("tr", {}, ...["", kind === "rule" ? "rule" : "event", `${data.noun}s`, kind === "rule" ? "findings" : "different", "such as"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...own.slice(0, MOST_RULES).map((one) => {
          const bar = el("span.share");
          bar.style.width = `${Math.max(1, (100 * one.rows) / most)}%`;
          return el("tr", {}, el("td", {}, kind === "rule" ? el(`span.level.${severity(one.severity)}`, {}, severity(one.severity)) : null),
            el("td.mono", {}, el("button.link", { type: "button", title: `Show the ${data.noun}s with it`, click: () => { list.showRule(one.index); toRow(list.first ?? -1); } }, plain(one.name))),
            el("td.end.bar", {}, bar, el("span", {}, number(one.rows))), el("td.end", {}, number(one.count)), el("td", {}, plain(one.message)));
        }))), own.length > MOST_RULES ? el("p.dim", {}, `${number(own.length - MOST_RULES)} more, not shown here`) : "");
    }
    if (!found.length) holder.append(el("p.note", {}, "There are no findings and no events."));
  }

  // -- keys ---------------------------------------------------------------------------------------------------------
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type !== "range" || event.target instanceof HTMLSelectElement;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && place.tab === "rows") list.focus();
    else if (typing || place.tab !== "rows") return;
    else if (event.key === "/") by("text").focus();
    else if (event.key === "," || event.key === ".") show.step(event.key === "," ? -1 : 1);
    else if (["b", "a", "s", "d"].includes(event.key)) show.turn(event.key);
    else return;
    event.preventDefault();
  });

  // -- colours ------------------------------------------------------------------------------------------------------
  const theme = field("theme");
  const KEPT = "pocketgpu-report-theme";
  function paint() {
    document.documentElement.dataset.theme = theme.value;
    if (plots.begun) void plots.draw(toRow);
  }
  try {
    theme.value = localStorage.getItem(KEPT) ?? "";
  } catch {
    // A page from a file may have no storage.
  }
  theme.addEventListener("change", () => {
    try {
      localStorage.setItem(KEPT, theme.value);
    } catch {
      // It holds until the page is closed.
    }
    paint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  // -- the start ----------------------------------------------------------------------------------------------------
  paint();
  for (const code of document.querySelectorAll(".command code")) code.after(report.copyButton(/** @type {HTMLElement} */ (code)));
  list.build();
  list.onChoose = (row) => { select(row); write(); };
  list.onChange = () => undefined;
  show.onPlace = ({ at, pixel }) => { Object.assign(place, { at, pixel }); write(); };
  window.addEventListener("hashchange", read);
  read();
  document.documentElement.dataset.ready = "true";
})();
