// The panel of resources: what the selected event is bound to; a picture of the chosen texture, a table of the buffer.

import { css, html, nothing, type TemplateResult } from "lit";
import { parseAddress, placeOfText } from "../shared/address";
import { askJson } from "../shared/api";
import { Panel } from "../shared/panel";
import { searchField } from "../shared/search_field";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { textureText, type ResourcesAnswer, type TableInfo, type TextureInfo } from "./api";
import "./table_view";
import "./texture_view";

interface Item {
  key: string;
  group: string;
  title: string;
  text: string;
  off: boolean;
  texture?: TextureInfo;
  table?: TableInfo;
}

export class ResourcesPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      :host {
        container-type: inline-size;
      }
      .both {
        flex: 1 1 0;
        min-height: 0;
        display: grid;
        grid-template: fit-content(34%) minmax(0, 1fr) / minmax(0, 1fr);
      }
      .list {
        overflow: auto;
        border-bottom: 1px solid var(--line);
        outline-offset: -2px;
      }
      @container (min-width: 760px) {
        .both {
          grid-template: minmax(0, 1fr) / minmax(180px, 30%) minmax(0, 1fr);
        }
        .list {
          border-bottom: none;
          border-right: 1px solid var(--line);
        }
      }
      .group-name {
        padding: 4px 8px 2px;
        color: var(--dim);
      }
      .item {
        display: flex;
        gap: 10px;
        padding: 0 8px 0 14px;
        line-height: 20px;
        white-space: nowrap;
        font: var(--mono);
        line-height: 20px;
        cursor: default;
      }
      .item:hover {
        background: var(--hover);
      }
      .item[aria-selected="true"] {
        background: var(--chosen);
        color: var(--strong);
      }
      .item .title {
        flex: none;
        min-width: 12ch;
      }
      .item .text {
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .item.off,
      .item .text {
        color: var(--dim);
      }
      .shown {
        min-width: 0;
        min-height: 0;
        overflow: hidden;
      }
    `,
  ];

  private items: Item[] = [];
  private missing = "";
  private faults: string[] = [];
  private place = "";
  private chosen = "";
  private filter = "";
  private texel: { part: string; x: number; y: number } | null = null;

  protected selected(): void {
    const place = placeOfText(selection.address);
    const wanted = selection.detail?.texel ?? null;
    if (wanted) {
      this.chosen = `texture ${wanted.of}`;
      this.texel = { part: wanted.part, x: wanted.x, y: wanted.y };
      this.filter = "";
      this.requestUpdate();
    } else if (place !== this.asked) this.texel = null;
    if (!place || place === this.asked) return;
    this.asked = place;
    const parsed = parseAddress(place);
    if (parsed && (parsed.draw ?? parsed.event) === undefined) {
      this.items = [];
      this.missing = "Select a draw to see its resources.";
      this.latest.stop();
      return;
    }
    void this.latest.ask(
      (signal) => askJson<ResourcesAnswer>("/api/resources", "resources", { at: place }, signal),
      (answer) => {
        this.place = place;
        this.missing = answer.missing;
        this.faults = answer.faults;
        this.items = itemsOf(answer);
      },
    );
  }

  private get listed(): Item[] {
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    return this.items.filter((one) => wanted.every((word) => `${one.group} ${one.title} ${one.text}`.toLowerCase().includes(word)));
  }

  /** What is shown: what was chosen, if there is one of this name, else the first texture that is on. */
  private get item(): Item | null {
    return this.items.find((one) => one.key === this.chosen) ?? this.items.find((one) => !one.off) ?? this.items[0] ?? null;
  }

  protected override render(): TemplateResult {
    const listed = this.latest.error ? [] : this.listed;
    const item = this.latest.error ? null : this.item;
    return html`
      <div class="bar">
        ${searchField("Filter resources", "Filter resources by kind, name or format", this.filter, (text) => {
          this.filter = text;
          this.requestUpdate();
        })}
        <span class="dim mono">${this.items.length ? `${listed.length} resources` : ""}</span>
      </div>
      ${this.working()} ${this.problem(this.latest.error)}
      ${this.missing && !this.latest.error ? html`<div class="note">${this.missing}</div>` : nothing}
      ${this.faults.map((fault) => html`<div class="note" role="alert">${fault}</div>`)}
      ${this.latest.error || this.missing ? nothing : html`<div class="both">
        <div class="list" role="listbox" tabindex="0" aria-label="Resources" @keydown=${(event: KeyboardEvent) => this.key(event)}>
          ${listed.map((one, at) => html`
            ${one.group !== listed[at - 1]?.group ? html`<div class="group-name" role="presentation">${one.group}</div>` : nothing}
            <div
              class=${one.off ? "item off" : "item"}
              role="option"
              aria-selected=${one === item}
              title=${one.text}
              @click=${() => this.choose(one)}
            ><span class="title">${one.title}</span><span class="text">${one.text}</span></div>`)}
          ${this.items.length || this.latest.state !== "idle" ? nothing : html`<div class="note">It has no textures and no buffers.</div>`}
        </div>
        <div class="shown">
          ${item?.texture
            ? html`<pg-texture .place=${this.place} .texture=${item.texture} .wanted=${this.texel}></pg-texture>`
            : item?.table
              ? html`<pg-table .place=${this.place} .table=${item.table}></pg-table>`
              : nothing}
        </div>
      </div>`}
    `;
  }

  private choose(item: Item): void {
    this.chosen = item.key;
    this.texel = null;
    this.requestUpdate();
  }

  private key(event: KeyboardEvent): void {
    const listed = this.listed;
    const at = listed.findIndex((one) => one === this.item);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: listed.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const item = listed[Math.min(Math.max(next, 0), listed.length - 1)];
    if (!item) return;
    this.choose(item);
    void this.updateComplete.then(() => this.renderRoot.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }));
  }
}

/** Everything that can be chosen, textures first. */
export function itemsOf(answer: ResourcesAnswer): Item[] {
  return [
    ...answer.textures.map((one) => ({
      key: `texture ${one.name}`, group: "textures", title: one.bound, text: textureText(one), off: !one.enabled || !!one.fault,
      texture: one,
    })),
    ...answer.tables.map((one) => ({
      key: `table ${one.of}`, group: one.group, title: one.title, text: one.text, off: false, table: one,
    })),
  ];
}

customElements.define("pg-resources", ResourcesPanel);
