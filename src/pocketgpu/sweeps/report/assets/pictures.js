// One picture, before, after, both with a slider, or their difference; a pixel of it can be chosen.
"use strict";

report.pictures = (() => {
  const { el, plain, number, kids, picturePlace, data } = report;
  /** Names and keys. @type {[string, string][]} */
  const MODES = [["before", "b"], ["after", "a"], ["slider", "s"], ["difference", "d"]];
  /** @type {[string, string][]} */
  const ZOOMS = [["fit", "to fit"], ["1", "1x"], ["2", "2x"], ["4", "4x"], ["8", "8x"]];
  let mode = "slider";
  let zoom = "fit";
  let edge = 50;

  /**
   * The element with a picture of a row. onPixel: called with [x, y] of the chosen pixel, or null.
   * @type {Report["pictures"]["view"]}
   */
  function view(picture, pixel, onPixel) {
    const [width, height] = picture.size;
    const possible = MODES.filter(([name]) =>
      name === "before" ? picture.before : name === "after" ? picture.after
        : name === "difference" ? picture.difference : picture.before && picture.after);
    let shown = possible.some(([name]) => name === mode) ? mode : picture.after ? "after" : "before";
    /** @type {Record<string, HTMLElement>} */
    const images = {};
    for (const [name, place] of /** @type {[string, string | undefined][]} */ ([["before", picture.before && picturePlace(picture.before)],
      ["after", picture.after && picturePlace(picture.after)], ["difference", picture.difference]])) {
      if (!place) continue;
      images[name] = el("img", { src: place, alt: `${picture.at}, ${label(name)}`, draggable: "false" });
      images[name].addEventListener("error", () => images[name].classList.add("missing"));
    }
    const mark = el("span.mark", { "aria-hidden": "true" });
    const line = el("span.edge", { "aria-hidden": "true" });
    const canvas = el("div.canvas", {}, ...Object.values(images), line, mark);
    const place = el("output.place");
    const stage = el("div.stage", {
      tabindex: 0, role: "group", "aria-label": `Picture ${picture.at}, ${width} by ${height} pixels. Arrow keys choose a pixel.`,
    }, canvas);
    const range = /** @type {HTMLInputElement} */ (el("input", { type: "range", min: 0, max: 100, step: 0.5, value: edge, "aria-label": "Edge between before and after" }));

    /** @param {string} name */
    function label(name) {
      return name === "before" ? data.labels[0] : name === "after" ? data.labels[1] : name;
    }
    function update() {
      const both = shown === "slider";
      for (const [name, image] of Object.entries(images)) {
        image.hidden = !(name === shown || (both && name !== "difference"));
        image.style.clipPath = both && name === "after" ? `inset(0 0 0 ${edge}%)` : "";
      }
      line.hidden = range.hidden = !both;
      line.style.left = `${edge}%`;
      for (const button of kids(radios)) button.setAttribute("aria-checked", String(button.dataset.mode === shown));
      for (const button of kids(radios)) button.tabIndex = button.dataset.mode === shown ? 0 : -1;
      size();
      mark.hidden = !pixel;
      if (pixel) {
        mark.style.left = `${(100 * pixel[0]) / width}%`;
        mark.style.top = `${(100 * pixel[1]) / height}%`;
        mark.style.width = `${100 / width}%`;
        mark.style.height = `${100 / height}%`;
        place.textContent = `pixel ${pixel[0]},${pixel[1]}`;
      }
    }
    function size() {
      const room = Math.max(80, stage.clientWidth - 2);
      const factor = zoom === "fit" ? Math.min(room / width, Math.max(1, Math.floor(room / width)), 460 / height > 1 ? Math.floor(460 / height) : 460 / height) : Number(zoom);
      canvas.style.width = `${Math.max(1, width * factor)}px`;
      canvas.style.height = `${Math.max(1, height * factor)}px`;
    }
    /** The pixel below the pointer. @param {PointerEvent} event @returns {Pixel | null} */
    function at(event) {
      const box = canvas.getBoundingClientRect();
      const x = Math.floor(((event.clientX - box.left) * width) / box.width);
      const y = Math.floor(((event.clientY - box.top) * height) / box.height);
      return x >= 0 && y >= 0 && x < width && y < height ? [x, y] : null;
    }
    /** @param {PointerEvent} event */
    function slide(event) {
      const box = canvas.getBoundingClientRect();
      edge = Math.max(0, Math.min(100, (100 * (event.clientX - box.left)) / box.width));
      range.value = String(edge);
      update();
    }
    /** @param {Pixel} found */
    function pick(found) {
      pixel = found;
      update();
      onPixel(found);
    }

    // A press that moves is the slider, one that does not chooses a pixel.
    /** @type {{ x: number, moved: boolean } | null} */
    let pressed = null;
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = { x: event.clientX, moved: false };
      if (shown === "slider") stage.setPointerCapture(event.pointerId);
    });
    stage.addEventListener("pointermove", (event) => {
      if (pressed && shown === "slider") {
        pressed.moved ||= Math.abs(event.clientX - pressed.x) > 3;
        if (pressed.moved) slide(event);
      }
      const over = at(event);
      if (over) place.textContent = `pixel ${over[0]},${over[1]}`;
      else place.textContent = pixel ? `pixel ${pixel[0]},${pixel[1]}` : "";
    });
    stage.addEventListener("pointerup", (event) => {
      const found = at(event);
      if (pressed && !pressed.moved && found) pick(found);
      pressed = null;
    });
    stage.addEventListener("pointercancel", () => (pressed = null));
    stage.addEventListener("keydown", (event) => {
      /** @type {Record<string, Pixel>} */
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
      const [x, y] = moves[event.key].map((step) => step * (event.shiftKey ? 10 : 1));
      const from = pixel ?? [Math.floor(width / 2), Math.floor(height / 2)];
      pick([Math.max(0, Math.min(width - 1, from[0] + x)), Math.max(0, Math.min(height - 1, from[1] + y))]);
      event.preventDefault();
    });
    range.addEventListener("input", () => { edge = Number(range.value); update(); });

    /** @param {string} name */
    function turn(name) {
      if (!possible.some(([one]) => one === name)) return;
      mode = shown = name;
      update();
    }
    const radios = el("span.radios", { role: "radiogroup", "aria-label": "What is shown" },
      ...possible.map(([name, key]) => {
        const button = el("button", { type: "button", role: "radio", "aria-keyshortcuts": key, click: () => turn(name) },
          name === "slider" ? "slider" : label(name));
        button.dataset.mode = name;
        return button;
      }));
    radios.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (!step) return;
      const names = possible.map(([name]) => name);
      turn(names[(names.indexOf(shown) + step + names.length) % names.length]);
      /** @type {HTMLElement} */ (radios.querySelector("[aria-checked=true]")).focus();
      event.preventDefault();
    });
    const zooms = /** @type {HTMLSelectElement} */ (
      el("select", { "aria-label": "Size of the picture" }, ...ZOOMS.map(([value, text]) => el("option", { value }, text))));
    zooms.value = zoom;
    zooms.addEventListener("change", () => { zoom = zooms.value; update(); });

    const text = picture.text ? el("span.changed", {}, plain(picture.text)) : el("span.dim", {}, `${picture.at}, ${number(width)} x ${number(height)}`);
    const found = /** @type {PictureView} */ (el("div.picture", {}, el("div.bar", {}, possible.length > 1 ? radios : null, zooms, text, place), stage,
      el("div.range", {}, range)));
    new ResizeObserver(size).observe(stage);
    update();
    found.turn = (key) => {
      const named = MODES.find(([, one]) => one === key);
      if (named) turn(named[0]);
    };
    return found;
  }

  return { view };
})();
