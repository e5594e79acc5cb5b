// Parts of a page that scroll by themselves can be reached with the keyboard: blocks of code and wide tables.
const SCROLLING = ".highlight pre, .table-wrapper, .output pre, .output .text_html";
const reach = () => {
  for (const part of document.querySelectorAll(SCROLLING)) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
};
addEventListener("load", reach);
addEventListener("resize", reach);
