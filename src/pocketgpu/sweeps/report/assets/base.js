// What all scripts of a report use: its data, elements, files that arrive later. Texts of a report may come from a
// capture that somebody sent: they become text of elements, and never HTML.
"use strict";

/** @type {any} */
const report = (() => {
  const nonce = /** @type {HTMLScriptElement} */ (document.currentScript).nonce;
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.rows;
  const count = rows.capture.length;

  /** An element. attributes: `class`, `aria-label`, ...; functions are listeners: `click`. children: texts, elements. */
  function el(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const found = document.createElement(name || "div");
    if (classes.length) found.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") found.addEventListener(key, value);
      else if (value === true) found.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) found.setAttribute(key, String(value));
    }
    found.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
    return found;
  }

  /** Control characters would change the direction or the line; they are shown as a sign. */
  const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
  const lines = (text) => String(text).split("\n").map(plain).join("\n");
  const number = (value) => value.toLocaleString("en-US");
  const counted = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
  const milliseconds = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

  /** Run a script of this folder. */
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

  const parts = new Map();
  const waiting = new Map();
  /** Called by the scripts in rows/. */
  function arrived(part, found) {
    parts.set(part, found);
  }
  /** The details of a row. */
  async function details(index) {
    const part = Math.floor(index / data.part);
    if (!parts.has(part)) {
      if (!waiting.has(part)) waiting.set(part, load(`rows/${part}.js`));
      await waiting.get(part);
    }
    return parts.get(part)[index % data.part];
  }

  /** A command with a button that copies it. */
  function command(text) {
    const code = el("code", { tabindex: 0 }, text);
    return el("p.command", {}, code, copyButton(code));
  }
  function copyButton(code) {
    const said = el("span.said", { role: "status" });
    async function copy() {
      try {
        await navigator.clipboard.writeText(code.textContent);
        said.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
        said.textContent = document.execCommand("copy") ? "copied" : "press Ctrl-C";
      }
      setTimeout(() => (said.textContent = ""), 2000);
    }
    return el("span", {}, el("button", { type: "button", "aria-label": `Copy: ${code.textContent}`, click: copy }, "Copy"), said);
  }

  const picturePlace = (digest) => `pictures/${digest.slice(0, 2)}/${digest}.png`;
  /** The severity of a rule as a word that is a class, too. */
  const severity = (text) => (["error", "warning", "note"].includes(text) ? text : "note");

  return {
    data, rows, count, el, plain, lines, number, counted, milliseconds, load, arrived, details, command, copyButton,
    picturePlace, severity, by: (id) => document.getElementById(id),
  };
})();
