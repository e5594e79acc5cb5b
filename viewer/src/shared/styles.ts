// Styles that every panel uses. Colours are variables of style.css, which has them for dark and light.

import { css } from "lit";

export const panelStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-width: 0;
    color: var(--text);
    background: var(--ground);
    font: var(--font);
  }
  * {
    box-sizing: border-box;
  }
  .mono,
  .row {
    font: var(--mono);
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 8px;
    padding: 4px 8px;
    min-height: 32px;
    border-bottom: 1px solid var(--line);
    background: var(--raised);
    flex: none;
  }
  .bar .grow {
    flex: 1 1 60px;
    min-width: 60px;
  }
  .scroll {
    flex: 1 1 0;
    min-height: 0;
    overflow: auto;
    position: relative;
    contain: strict;
    outline-offset: -2px;
  }
  .space {
    position: relative;
    min-width: 100%;
  }
  .rows {
    position: absolute;
    top: 0;
    left: 0;
    min-width: 100%;
    will-change: transform;
  }
  .row {
    height: 20px;
    line-height: 20px;
    white-space: pre;
    padding: 0 8px;
  }
  .dim {
    color: var(--dim);
  }
  .note {
    padding: 8px 10px;
    color: var(--dim);
    overflow-wrap: anywhere;
  }
  input[type="text"],
  input[type="search"],
  input[type="number"],
  textarea,
  select,
  button {
    font: inherit;
    color: inherit;
    background: var(--field);
    border: 1px solid var(--edge);
    border-radius: 3px;
    height: 24px;
    padding: 0 6px;
    min-width: 0;
  }
  button {
    cursor: pointer;
    background: var(--button);
  }
  button:hover:enabled {
    background: var(--hover);
  }
  button:disabled {
    color: var(--dim);
    cursor: default;
  }
  button[aria-checked="true"],
  button[aria-checked="true"]:hover:enabled {
    background: var(--chosen);
    border-color: var(--accent);
    color: var(--strong);
  }
  .group {
    display: inline-flex;
    flex-wrap: wrap;
  }
  .group button {
    border-radius: 0;
    margin-left: -1px;
  }
  .group button:first-child {
    border-radius: 3px 0 0 3px;
    margin-left: 0;
  }
  .group button:last-child {
    border-radius: 0 3px 3px 0;
  }
  .group button[aria-checked="true"] {
    position: relative;
  }
  label {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    white-space: nowrap;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: -1px;
  }
  a {
    color: var(--link);
    text-decoration: none;
    border-radius: 2px;
  }
  a:hover {
    text-decoration: underline;
  }
  .working {
    height: 2px;
    flex: none;
    background: transparent;
    overflow: hidden;
  }
  .working.on::after {
    content: "";
    display: block;
    width: 30%;
    height: 2px;
    background: var(--accent);
    animation: pass 1s infinite ease-in-out;
  }
  @keyframes pass {
    from {
      transform: translateX(-100%);
    }
    to {
      transform: translateX(340%);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .working.on::after {
      width: 100%;
      animation: none;
    }
  }
  .problem {
    margin: 8px;
    padding: 8px 10px;
    border: 1px solid var(--bad);
    border-left-width: 4px;
    border-radius: 3px;
    background: var(--bad-ground);
    overflow-wrap: anywhere;
  }
  .problem p {
    margin: 0 0 4px;
  }
  .problem p:last-child {
    margin: 0;
  }
`;

/** A table of names and texts. */
export const factsTableStyles = css`
  table {
    border-collapse: collapse;
    width: 100%;
  }
  th,
  td {
    text-align: left;
    vertical-align: top;
    padding: 1px 8px;
    line-height: 18px;
    overflow-wrap: anywhere;
  }
  th {
    font-weight: 400;
    color: var(--dim);
    width: 1%;
    white-space: nowrap;
  }
  tr:nth-child(even) {
    background: var(--stripe);
  }
`;

/** A frame around an element that has the focus, over what it draws. */
export const focusFrameStyles = css`
  :host(:focus-visible) {
    outline: none;
  }
  :host(:focus-visible)::after {
    content: "";
    position: absolute;
    inset: 0;
    border: 2px solid var(--accent);
    pointer-events: none;
  }
`;
