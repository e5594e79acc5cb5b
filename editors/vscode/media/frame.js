// Buttons of the panel with pictures.
const host = acquireVsCodeApi();
for (const [id, step] of [["before", -1], ["after", 1], ["view", "view"]]) {
  document.getElementById(id).addEventListener("click", () => host.postMessage({ step }));
}
