// Styles of the mesh panel.

import { css, unsafeCSS } from "lit";
import { WIDTHS } from "./table";

export const meshStyles = css`
  pg-mesh-view {
    flex: 3 1 0;
    min-height: 80px;
  }
  .tables {
    flex: 2 1 0;
    min-height: 90px;
    display: flex;
    flex-direction: column;
    border-top: 1px solid var(--line);
  }
  .head {
    flex: none;
    overflow: hidden;
    background: var(--raised);
    border-bottom: 1px solid var(--line);
    color: var(--dim);
  }
  .row {
    display: flex;
    width: max-content;
    min-width: 100%;
    cursor: default;
  }
  .row > span {
    flex: none;
    overflow: hidden;
    text-overflow: ellipsis;
    text-align: right;
    padding-left: 1ch;
    box-sizing: content-box;
  }
  ${unsafeCSS(WIDTHS.map((width) => `.w${width} { width: ${width}ch; }`).join("\n"))}
  .row > .text {
    text-align: left;
  }
  .scroll .row:hover {
    background: var(--hover);
  }
  .scroll .row.chosen {
    background: var(--chosen);
    color: var(--strong);
  }
  .scroll .row.corner {
    background: color-mix(in srgb, var(--chosen) 45%, transparent);
  }
  .scroll:focus .row.cursor {
    box-shadow: inset 0 0 0 1px var(--accent);
  }
  .verdict {
    display: inline-flex;
    align-items: center;
    gap: 5px;
    height: 22px;
  }
  .verdict[aria-pressed="false"] {
    opacity: 0.5;
    text-decoration: line-through;
  }
  .key {
    width: 10px;
    height: 10px;
    border-radius: 2px;
    flex: none;
  }
  .facts {
    color: var(--dim);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
`;
