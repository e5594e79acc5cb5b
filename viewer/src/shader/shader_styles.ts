// Styles of the panel that steps through a shader.

import { css } from "lit";

export const shaderStyles = css`
  :host {
    container-type: inline-size;
  }
  form {
    display: inline-flex;
    gap: 4px;
    align-items: center;
  }
  form input {
    width: 9ch;
  }
  .bar input[type="range"] {
    flex: 1 1 80px;
    min-width: 60px;
    accent-color: var(--accent);
  }
  .steps button {
    min-width: 26px;
    padding: 0 4px;
  }
  .number {
    width: 7ch;
    text-align: right;
  }
  .body {
    flex: 1 1 0;
    min-height: 0;
    display: grid;
    grid-template-rows: minmax(90px, 1fr) minmax(90px, 1fr);
  }
  .code {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .side {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    border-top: 1px solid var(--line);
  }
  .views {
    margin-left: auto;
  }
  .number-of {
    margin-right: 1ch;
  }
  pg-shader-graph {
    flex: 1 1 0;
    min-height: 0;
  }
  .body.graph {
    grid-template-rows: minmax(120px, 2fr) minmax(60px, 1fr);
  }
  @container (min-width: 460px) {
    .body:not(.graph) {
      grid-template-rows: minmax(0, 1fr);
      grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr);
    }
    .body:not(.graph) .side {
      border-top: none;
      border-left: 1px solid var(--line);
    }
  }
  @container (min-width: 900px) {
    .body.graph {
      grid-template-rows: minmax(0, 1fr);
      grid-template-columns: minmax(0, 1.6fr) minmax(0, 1fr);
    }
    .body.graph .side {
      border-top: none;
      border-left: 1px solid var(--line);
    }
  }
  .row {
    display: flex;
    gap: 6px;
    padding: 0 8px 0 2px;
    cursor: default;
  }
  .row > span,
  .row > button {
    flex: none;
  }
  .row:hover {
    background: var(--hover);
  }
  .row.picked {
    box-shadow: inset 0 0 0 1px var(--edge);
  }
  .row.current {
    background: var(--chosen);
  }
  .row.unused .text {
    color: var(--dim);
  }
  .stop {
    width: 18px;
    height: 20px;
    line-height: 18px;
    padding: 0;
    border: none;
    background: transparent;
    color: var(--bad);
    text-align: center;
  }
  .stop:not(.on) {
    color: transparent;
  }
  .row:hover .stop:not(.on) {
    color: var(--edge);
  }
  .now {
    width: 1ch;
    color: var(--accent);
  }
  .address,
  .hits,
  .index {
    color: var(--dim);
  }
  .hits {
    min-width: 3ch;
    text-align: right;
  }
  .index {
    min-width: 6ch;
    text-align: right;
    padding-left: 8px;
  }
  .text {
    color: var(--strong);
  }
  .steps-list .text {
    min-width: 34ch;
  }
  .happened {
    color: var(--dim);
  }
  .source {
    color: var(--dim);
    margin-left: auto;
    padding-left: 2ch;
  }
  .born {
    height: 16px;
    line-height: 14px;
    margin: 2px 0;
    padding: 0 3px;
    border-color: var(--bad);
    color: var(--bad);
    background: transparent;
    font-size: 10px;
  }
  .facts {
    flex: 0 1 auto;
    max-height: 55%;
    overflow: auto;
    padding: 4px 8px;
    border-bottom: 1px solid var(--line);
  }
  .instruction {
    color: var(--strong);
    white-space: pre-wrap;
  }
  .bad {
    color: var(--bad);
    overflow-wrap: anywhere;
  }
  .old {
    color: var(--old);
  }
  .new {
    color: var(--new);
  }
  table {
    border-collapse: collapse;
  }
  th {
    font-weight: 400;
    text-align: left;
    white-space: nowrap;
  }
  td,
  th {
    padding: 0 10px 0 0;
    vertical-align: top;
    line-height: 18px;
  }
  .origin,
  button.value {
    height: auto;
    line-height: inherit;
    padding: 0;
    border: none;
    background: transparent;
    color: var(--link);
  }
  button.value {
    color: inherit;
    text-align: inherit;
  }
  .origin:hover:enabled,
  button.value:hover:enabled {
    background: transparent;
    text-decoration: underline;
  }
  .values {
    contain: content;
  }
  .registers {
    margin: 2px 8px 8px;
  }
  .registers th {
    color: var(--dim);
    position: sticky;
    left: 0;
    background: var(--ground);
    padding-left: 8px;
  }
  .registers .written th {
    color: var(--strong);
  }
  .registers td {
    text-align: right;
    min-width: 8ch;
    white-space: nowrap;
  }
  .registers tr:nth-child(even) td,
  .registers tr:nth-child(even) th {
    background: var(--stripe);
  }
  .scalars {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(19ch, 1fr));
    margin: 2px 8px 8px;
    column-gap: 12px;
  }
  .scalars > div {
    display: flex;
    justify-content: space-between;
    align-items: baseline;
    line-height: 18px;
    border-bottom: 1px solid var(--stripe);
    white-space: nowrap;
    overflow: hidden;
  }
  .scalars .value {
    text-align: right;
  }
  .scalars .name {
    color: var(--dim);
    padding-right: 1ch;
  }
  .scalars .written .name {
    color: var(--strong);
  }
  .changed .value {
    display: inline-flex;
    flex-direction: column;
  }
  .chooser {
    padding: 8px 10px;
    overflow: auto;
  }
`;
