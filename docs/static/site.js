// Parts of a page that scroll by themselves can be reached with the keyboard: blocks of code, wide tables and drawings.
const SCROLLING = [
  ".highlight pre", ".table-wrapper", ".output pre", ".cell_output .text_html", ".cell_output .text_html table", ".drawing",
  "details.more",
].join();
const reach = () => {
  for (const part of document.querySelectorAll(SCROLLING)) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
};
addEventListener("load", reach);
addEventListener("resize", reach);

// Moving pictures have a button that stops them: the still picture after each is shown instead.
const addButtons = () => {
  for (const moving of document.querySelectorAll("img.moving")) {
    const button = document.createElement("button");
    button.className = "motion";
    const show = () => {
      button.textContent = document.body.classList.contains("motionless") ? "Play" : "Stop";
    };
    button.addEventListener("click", () => {
      document.body.classList.toggle("motionless");
      for (const one of document.querySelectorAll("button.motion")) one.dispatchEvent(new Event("shown"));
    });
    button.addEventListener("shown", show);
    show();
    (moving.nextElementSibling ?? moving).after(button);
  }
};
addEventListener("DOMContentLoaded", addButtons);
