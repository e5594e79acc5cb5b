// Styles of the rows of words.

import { css } from "lit";

export const rowStyles = css`
  .row {
    display: flex;
    gap: 1ch;
    cursor: default;
    min-width: max-content;
  }
  .row > span {
    flex: none;
  }
  .place {
    min-width: 7ch;
  }
  .address {
    color: var(--dim);
    min-width: 12ch;
  }
  .word {
    min-width: 8ch;
  }
  .mark {
    width: 1ch;
    color: var(--accent);
  }
  .register {
    min-width: 28ch;
  }
  .other .register,
  .kind {
    color: var(--dim);
  }
  .kind {
    font-style: italic;
  }
  .changed .register {
    color: var(--strong);
  }
  .text {
    color: var(--dim);
  }
  .changed .text {
    color: var(--text);
  }
  .row.begin {
    box-shadow: inset 0 1px var(--edge);
  }
  .row.inside {
    background: var(--stripe);
    box-shadow: inset 3px 0 var(--accent);
  }
  .row.inside.begin {
    box-shadow:
      inset 3px 0 var(--accent),
      inset 0 1px var(--edge);
  }
  .row.hit .word,
  .row.hit .register {
    color: var(--new);
    font-weight: 600;
  }
  .row:hover {
    background: var(--hover);
  }
  .row.marked {
    background: var(--chosen);
  }
  .scroll:focus-visible .row.marked {
    outline: 1px solid var(--accent);
    outline-offset: -1px;
  }
  .waiting {
    color: var(--dim);
  }
  .count {
    margin-left: auto;
  }
`;
