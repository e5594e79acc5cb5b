// Styles of the panel of two captures.

import { css } from "lit";

export const compareStyles = css`
  .names {
    flex: 1 1 100%;
    display: flex;
    gap: 6px;
    white-space: nowrap;
    overflow: hidden;
  }
  .names > span {
    overflow: hidden;
    text-overflow: ellipsis;
    margin-right: 8px;
  }
  .halves {
    display: flex;
    flex: 1 1 0;
    min-height: 0;
  }
  .left {
    display: flex;
    flex-direction: column;
    flex: 0 0 38%;
    max-width: 420px;
    min-width: 0;
    border-right: 1px solid var(--line);
  }
  .right {
    display: flex;
    flex-direction: column;
    flex: 1 1 0;
    min-width: 0;
    min-height: 0;
    overflow-y: auto;
  }
  pg-compare-pictures {
    min-height: 210px;
  }
  @container (max-width: 560px) {
    .halves {
      flex-direction: column;
      overflow-y: auto;
    }
    .right {
      flex: 1 0 400px;
      overflow-y: visible;
    }
    .left {
      flex: 0 0 max(26%, 110px);
      max-width: none;
      border-right: none;
      border-bottom: 1px solid var(--line);
    }
  }
  .count {
    padding: 2px 8px;
    background: var(--raised);
    border-bottom: 1px solid var(--line);
    white-space: nowrap;
    overflow: hidden;
    text-overflow: ellipsis;
    flex: none;
  }
  .events .row {
    display: flex;
    gap: 8px;
    cursor: default;
  }
  .events .row:hover {
    background: var(--hover);
  }
  .events .row.chosen {
    background: var(--chosen);
    color: var(--strong);
  }
  .mark {
    width: 1ch;
    flex: none;
    color: var(--dim);
  }
  .place {
    flex: none;
    min-width: 6ch;
    color: var(--dim);
  }
  .events .title {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .is-commands .mark,
  .is-commands .place {
    color: var(--bad);
    font-weight: 600;
  }
  .is-state .mark,
  .is-state .place {
    color: var(--fill);
  }
  .is-only-a,
  .is-only-a .mark {
    color: var(--old);
  }
  .is-only-b,
  .is-only-b .mark {
    color: var(--new);
  }
  .tab,
  .registers {
    flex: 0 1 40%;
    min-height: 90px;
    contain: content;
  }
  .registers {
    contain: strict;
  }
  .head,
  .registers {
    --name-column: 14ch;
    --value-column: 10ch;
  }
  .places {
    white-space: pre;
    margin-left: auto;
  }
  h3 {
    font: inherit;
    font-weight: 600;
    margin: 8px 8px 2px;
  }
  ul {
    list-style: none;
    margin: 0;
    padding: 0 8px 8px;
  }
  li {
    overflow-wrap: anywhere;
  }
  .whys {
    display: grid;
    grid-template-columns: 1fr 1fr;
  }
  .whys section {
    min-width: 0;
    border-right: 1px solid var(--line);
  }
  .because {
    margin: 2px 8px 6px;
    font-weight: 600;
    color: var(--strong);
    overflow-wrap: anywhere;
  }
  pre {
    margin: 0;
    padding: 0 8px 8px;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;
