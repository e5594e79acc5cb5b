// Registers, methods, structures and instructions on the page of search results, found by any of their names and
// addresses. Their index is register_index.js (reference_pages/search.py).
(() => {
  "use strict";
  const MOST = 12;
  const EXACT = 0, PLACE = 1, BYTE = 2, START = 3, INSIDE = 4, OTHER = 5, NOTHING = 9;

  const hex = (number, digits) => "0x" + number.toString(16).toUpperCase().padStart(digits, "0");
  const dashed = (name) => name.toLowerCase().replace(/[._ ]/g, "-");

  // 0x0E0, 0e0, 0x1040_1380: a number, or -1. Decimal numbers are not meant: addresses are written in hex.
  function number(word) {
    const digits = word.replace(/_/g, "").match(/^(?:0x([0-9a-f]{1,8})|([0-9a-f]{3,8})h?)$/);
    return digits ? parseInt(digits[1] || digits[2], 16) : -1;
  }

  // Whether an address is that of an entry: `size` is that of an element, `step` the distance to the next one.
  function within(value, first, count, step, size) {
    const distance = value - first;
    return distance >= 0 && distance < count * step && distance % step < size;
  }

  // Pushbuffers count words, so the byte of a method comes after the words of others.
  function atPlace(value, kind, offset, count = 1, step = 1) {
    if (offset === undefined || value < 0) return NOTHING;
    if (kind.class) {
      if (within(value, offset, count, step, 1)) return PLACE;
      return within(value, 4 * offset, count, 4 * step, 4) ? BYTE : NOTHING;
    }
    const physical = kind.base + offset * kind.stride;
    const found = value === offset || [physical, physical + index().user].some((one) => within(value, one, 1, 4, 4));
    return found ? PLACE : NOTHING;
  }

  // How well a word of the query fits an entry.
  function fit(word, kind, name, others, place) {
    const asClass = word.match(/^(?:nv)?([0-9a-f]{4})[._](.+)$/);
    if (asClass && kind.class === asClass[1]) word = asClass[2];
    word = word.replace(/^gpureg_/, "").replace(/[([]\d+[)\]]$/, "");
    if (word === name || others.includes(word) || others.includes(word.replace(/\d+/, "n"))) return EXACT;
    const placed = atPlace(number(word), kind, ...place);
    if (placed < NOTHING) return placed;
    if (word.length > 1 && name.startsWith(word)) return START;
    if (word.length > 2 && name.includes(word)) return INSIDE;
    return word.length > 2 && others.some((other) => other.includes(word)) ? OTHER : NOTHING;
  }

  const index = () => window.registerIndex;

  // Entries that fit all words, the best first.
  function find(query) {
    const words = query.toLowerCase().split(/[\s,;]+/).filter(Boolean);
    const found = [];
    for (const [page, kindNumber, name, others, ...place] of words.length ? index().entries : []) {
      const kind = index().kinds[kindNumber];
      const lower = name.toLowerCase();
      const names = others.toLowerCase().split(" ");
      // A structure's name may have two words: "TIC BL".
      const worst = query.trim().toLowerCase() === lower
        ? EXACT
        : Math.max(...words.map((word) => fit(word, kind, lower, names, place)));
      if (worst < NOTHING) found.push({ rank: worst, kind, name, others, place, page: index().pages[page] });
    }
    return found.sort((one, other) => one.rank - other.rank || one.name.length - other.name.length);
  }

  function where({ kind, place: [offset, count, step] }) {
    if (offset === undefined) return "";
    if (kind.class) {
      const many = count ? `, ${count} of them, ${step} word${step > 1 ? "s" : ""} apart` : "";
      return `, word ${hex(offset, 3)}, byte ${hex(4 * offset, 4)}${many}`;
    }
    const physical = kind.base + offset * kind.stride;
    return `, ${kind.place} ${hex(offset, 3)}, physical ${hex(physical, 8)}, for programs ` +
      hex(physical + index().user, 8);
  }

  function element(tag, text, parts = []) {
    const made = document.createElement(tag);
    made.textContent = text;
    made.append(...parts);
    return made;
  }

  function line(hit, root) {
    const link = element("a", "", [element("code", hit.name)]);
    link.href = `${root}${index().folder}/${hit.page}.html#${hit.kind.anchor}${dashed(hit.name)}`;
    return element("li", "", [link, `: ${hit.kind.what}${where(hit)}`]);
  }

  // Sphinx says that nothing matches where no text has the words, though registers were found.
  function correctStatus(results) {
    new MutationObserver((changes, observer) => {
      const status = results.querySelector(".search-summary");
      if (!status?.textContent) return;
      observer.disconnect();
      if (!results.querySelector("li")) status.textContent = "No text of a page has these words.";
    }).observe(results, { childList: true, subtree: true });
  }

  function show() {
    const results = document.getElementById("search-results");
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const hits = results && window.registerIndex ? find(query) : [];
    if (!hits.length) return;
    const root = document.documentElement.dataset.content_root || "./";
    const list = element("ul", "", hits.slice(0, MOST).map((hit) => line(hit, root)));
    const box = element("section", "", [element("h2", "Registers and instructions"), list]);
    box.id = "register-hits";
    if (hits.length > MOST) box.append(element("p", `${hits.length - MOST} more have such a name.`));
    results.before(box);
    correctStatus(results);
  }

  window.findRegisters = find;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
  else show();
})();
