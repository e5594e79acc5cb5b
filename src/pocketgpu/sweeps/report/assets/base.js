// What all scripts of a report use: its data, elements, files that arrive later. Texts of a report may come from a
// capture that somebody sent: they become text of elements, and never HTML.
"use strict";

/** Types are in viewer/report.d.ts; the other scripts add their part. */
const report = /** @type {Report} */ (/** @type {() => Base} */ (() => {
  const nonce = /** @type {HTMLScriptElement} */ (document.currentScript).nonce;
  /** @type {Data} */
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "");
  const rows = data.rows;
  const count = rows.capture.length;

  /**
   * An element. attributes: `class`, `aria-label`, ...; functions are listeners: `click`. children: texts, elements.
   * @type {Base["el"]}
   */
  function el(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const found = document.createElement(name || "div");
    if (classes.length) found.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") found.addEventListener(key, value);
      else if (value === true) found.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) found.setAttribute(key, String(value));
    }
    for (const child of children.flat()) if (child !== null && child !== undefined && child !== "") found.append(child);
    return found;
  }

  // Control characters would change the direction or the line; they are shown as a sign.
  /** @type {Base["plain"]} */
  const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
  /** @type {Base["lines"]} */
  const lines = (text) => String(text).split("\n").map(plain).join("\n");
  /** @type {Base["number"]} */
  const number = (value) => value.toLocaleString("en-US");
  /** @type {Base["counted"]} */
  const counted = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
  /** @type {Base["milliseconds"]} */
  const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

  /** Run a script of this folder. @type {Base["load"]} */
  function load(src) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.nonce = nonce;
      script.src = src;
      script.addEventListener("load", () => done(undefined));
      script.addEventListener("error", () => failed(new Error(`${src} is missing`)));
      document.head.append(script);
    });
  }

  /** @type {Map<number, Details[]>} */
  const parts = new Map();
  /** @type {Map<number, Promise<void>>} */
  const waiting = new Map();
  /** Called by the scripts in rows/. @type {Base["arrived"]} */
  function arrived(part, found) {
    parts.set(part, found);
  }
  /** The details of a row. @type {Base["details"]} */
  async function details(index) {
    const part = Math.floor(index / data.part);
    if (!parts.has(part)) {
      if (!waiting.has(part)) waiting.set(part, load(`rows/${part}.js`));
      await waiting.get(part);
    }
    const found = parts.get(part)?.[index % data.part];
    if (!found) throw new Error(`rows/${part}.js has no row ${index}`);
    return found;
  }

  /** A command with a button that copies it. @type {Base["command"]} */
  function command(text) {
    const code = el("code", { tabindex: 0 }, text);
    return el("p.command", {}, code, copyButton(code));
  }
  /** @type {Base["copyButton"]} */
  function copyButton(code) {
    const said = el("span.said", { role: "status" });
    async function copy() {
      try {
        await navigator.clipboard.writeText(code.textContent ?? "");
        said.textContent = "copied";
      } catch {
        getSelection()?.selectAllChildren(code);
        said.textContent = document.execCommand("copy") ? "copied" : "press Ctrl-C";
      }
      setTimeout(() => (said.textContent = ""), 2000);
    }
    return el("span", {}, el("button", { type: "button", "aria-label": `Copy: ${code.textContent}`, click: copy }, "Copy"), said);
  }

  /** @type {Base["picturePlace"]} */
  const picturePlace = (digest) => `pictures/${digest.slice(0, 2)}/${digest}.png`;
  /** The severity of a rule as a word that is a class, too. @type {Base["severity"]} */
  const severity = (text) => (["error", "warning", "note"].includes(text) ? text : "note");

  // The folder that all rows are in says nothing in a list of them.
  const folders = rows.capture.map((name) => name.slice(0, name.lastIndexOf("/") + 1));
  let common = folders[0] ?? "";
  for (const one of folders) while (!one.startsWith(common)) common = common.slice(0, common.slice(0, -1).lastIndexOf("/") + 1);
  /** @type {Base["shortName"]} */
  const shortName = (index) => rows.capture[index].slice(common.length);

  /** An element of the page. @type {Base["by"]} */
  function by(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`the page has no element ${id}`);
    return found;
  }
  /** @type {Base["field"]} */
  const field = (id) => /** @type {HTMLInputElement | HTMLSelectElement} */ (by(id));

  /** @type {Base["kids"]} */
  const kids = (element) => /** @type {HTMLElement[]} */ ([...element.children]);

  return {
    nonce, data, rows, count, el, plain, lines, number, counted, milliseconds, load, arrived, details, command, copyButton,
    picturePlace, severity, shortName, by, field, kids,
  };
})());
