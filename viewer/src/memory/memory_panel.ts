// The panel of memory: bytes after the selected event, as rows or as a picture; who wrote the marked ones, who reads them.

import { css, html, nothing, type TemplateResult } from "lit";
import { memoryAt, parseAddress, placeOfText, toFragment } from "../shared/address";
import { askJson, calm } from "../shared/api";
import { pictureStyles } from "../picture/controls";
import { checkBox } from "../shared/check_box";
import { Latest } from "../shared/latest";
import { Panel } from "../shared/panel";
import { radio, radioKey } from "../shared/radio";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import type { Bytes, ContactsAnswer, EventName, FormatsAnswer } from "./api";
import { UNITS, meanings, parseSpan, spanText, type Span, type Unit } from "./bytes";
import "./hex_view";
import { WINDOW, type HexView } from "./hex_view";
import "./memory_picture";

type Mode = Unit | "picture";

/** Ranges of the event that are listed in the bar. */
const MOST_RANGES = 12;
/** Readers that are listed at once. */
const MOST_SHOWN = 12;

export class MemoryPanel extends Panel {
  static override styles = [
    panelStyles,
    pictureStyles,
    css`
      .go input {
        width: 24ch;
        font: var(--mono);
      }
      .body {
        flex: 1 1 0;
        min-height: 0;
        min-width: 0;
      }
      .ranges {
        padding: 3px 8px;
        border-bottom: 1px solid var(--line);
        max-height: 66px;
        overflow: auto;
        line-height: 20px;
      }
      .ranges {
        display: flex;
        flex-wrap: wrap;
        gap: 0 12px;
      }
      .about {
        flex: none;
        max-height: 40%;
        overflow: auto;
        border-top: 1px solid var(--line);
        background: var(--raised);
        padding: 4px 8px;
        line-height: 19px;
      }
      dl {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        gap: 0 10px;
        margin: 0;
      }
      dt {
        color: var(--dim);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      dd a {
        margin-right: 12px;
      }
      .value {
        display: inline-block;
        margin-right: 14px;
        white-space: nowrap;
      }
    `,
  ];

  private readonly contacts = new Latest(() => this.requestUpdate());
  private place = "";
  private marked: Span | null = null;
  private mode: Mode = "bytes";
  private known: FormatsAnswer | null = null;
  private found: ContactsAnswer | null = null;
  private foundFor = "";
  private changed = false;
  private all = false;
  private bad = "";

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.contacts.stop();
    this.foundFor = "";
  }

  private get hex(): HexView | null {
    return this.renderRoot.querySelector<HexView>("pg-hex");
  }

  protected selected(): void {
    const place = placeOfText(selection.address);
    if (!place) return;
    const memory = parseAddress(selection.address)?.memory;
    if (memory) this.marked = memory;
    this.place = place;
    this.bad = "";
    this.requestUpdate();
    if (place !== this.asked) {
      this.asked = place;
      void this.latest.ask(
        (signal) => askJson<FormatsAnswer>("/api/memory-formats", "memory-formats", { at: place }, signal),
        (answer) => {
          this.known = answer;
          // Something to look at, where nothing was chosen yet, and nobody is writing an address.
          const typed = this.renderRoot.querySelector<HTMLInputElement>(".go input")?.value;
          if (!this.marked && !typed && answer.start) this.marked = { address: parseInt(answer.start, 16), size: 1 };
          this.askContacts();
        },
      );
    } else this.askContacts();
  }

  private askContacts(): void {
    const { marked, place } = this;
    if (!marked) return;
    const key = `${place} ${spanText(marked)} ${this.changed}`;
    if (key === this.foundFor) return;
    this.foundFor = key;
    this.all = false;
    const values = { at: place, address: `0x${marked.address.toString(16)}`, size: marked.size, changed: this.changed ? 1 : 0 };
    void this.contacts.ask(
      async (signal) => {
        await calm();
        signal.throwIfAborted();
        return askJson<ContactsAnswer>("/api/contacts", "contacts", values, signal);
      },
      (answer) => (this.found = answer),
    );
  }

  protected override render(): TemplateResult {
    const { known, marked, place } = this;
    return html`
      <div class="bar">
        <form class="go" @submit=${(event: Event) => this.go(event)}>
          <input
            type="text"
            spellcheck="false"
            autocomplete="off"
            aria-label="Address of memory"
            aria-invalid=${this.bad !== ""}
            placeholder="0x18000000 or 0x18000000+0x40"
            title="Address, and how many bytes, in hexadecimal"
            .value=${marked ? spanText(marked) : ""}
          />
        </form>
        <span class="group" role="radiogroup" aria-label="Memory as" @keydown=${radioKey}>
          ${(Object.keys(UNITS) as Unit[]).map((one) => radio(one, this.mode === one, () => this.setMode(one), UNITS[one].title))}
          ${radio("picture", this.mode === "picture", () => this.setMode("picture"), "as texels from the address on")}
        </span>
        ${this.mode === "picture"
          ? nothing
          : html`<span>
              <button title="The megabyte before" aria-label="The megabyte before" @click=${() => this.hex?.moveTo(this.hex.base - WINDOW)}>◂</button>
              <button title="The megabyte after" aria-label="The megabyte after" @click=${() => this.hex?.moveTo(this.hex.base + WINDOW)}>▸</button>
            </span>`}
      </div>
      ${this.working(this.contacts)} ${this.problem(this.latest.error)}
      ${this.bad ? html`<div class="note" role="alert">${this.bad}</div>` : nothing}
      ${known && !this.latest.error ? this.ranges(known) : nothing}
      <div class="body">
        ${this.latest.error
          ? nothing
          : this.mode === "picture"
            ? html`<pg-memory-picture .place=${place} .address=${marked?.address ?? 0} .known=${known}></pg-memory-picture>`
            : html`<pg-hex .place=${place} .marked=${marked} .unit=${this.mode} @mark=${(event: Event) => this.mark(event as CustomEvent)}></pg-hex>`}
      </div>
      ${marked && !this.latest.error ? this.about(marked) : nothing}
    `;
  }

  private ranges(known: FormatsAnswer): TemplateResult | typeof nothing {
    const part = (name: string, ranges: Bytes[]): TemplateResult | typeof nothing =>
      ranges.length
        ? html`<span class="dim">${name}</span>${ranges.slice(0, MOST_RANGES).map((one) => this.bytesLink(one))}${ranges.length > MOST_RANGES
              ? html`<span class="dim">and ${ranges.length - MOST_RANGES} more</span>`
              : nothing}`
        : nothing;
    if (!known.event || !(known.writes.length || known.reads.length)) return nothing;
    return html`<div class="ranges mono">${part("writes", known.writes)} ${part("reads", known.reads)}</div>`;
  }

  private bytesLink({ address, size }: Bytes): TemplateResult {
    const span = { address: parseInt(address, 16), size };
    return html`<a href=${toFragment(memoryAt(this.place, span.address, size))}>${spanText(span)}</a>`;
  }

  private about(marked: Span): TemplateResult {
    const found = this.contacts.error ? null : this.found;
    const bytes = this.hex?.read({ address: marked.address, size: Math.max(4, marked.size) }) ?? new Uint8Array();
    const waiting = this.contacts.state === "idle" ? "" : "…";
    return html`<div class="about" role="region" aria-label="The marked bytes">
      <div class="mono">
        ${spanText(marked)} <span class="dim">${marked.size === 1 ? "1 byte" : `${marked.size.toLocaleString("en")} bytes`}</span>
        ${bytes.length ? meanings(bytes.subarray(0, 4)).map(({ name, text }) => html`<span class="value"><span class="dim">${name}</span> ${text}</span>`) : nothing}
      </div>
      ${this.problem(this.contacts.error)}
      <dl class="mono" aria-busy=${waiting !== ""}>
        <dt>written by</dt>
        <dd>
          ${waiting || (found ? this.event(found.written, "nothing up to here") : "")}
          ${checkBox(
            "only draws that changed them",
            this.changed,
            (on) => this.setChanged(on),
            "Draws are run to find out whether they changed any of the bytes",
          )}
        </dd>
        <dt>written next by</dt>
        <dd>${waiting || (found ? this.event(found.next, `nothing until the end of f${found.until}`) : "")}</dd>
        <dt>read by</dt>
        <dd class="readers">${waiting || (found ? this.readers(found) : "")}</dd>
      </dl>
    </div>`;
  }

  private event(event: EventName | null, none: string): TemplateResult {
    if (!event) return html`<span class="dim">${none}</span>`;
    return html`<a href=${this.sameBytes(event.address)} title=${event.title}>${event.address}</a>${event.title} `;
  }

  /** The same bytes after another event. */
  private sameBytes(address: string): string {
    return toFragment(this.marked ? memoryAt(address, this.marked.address, this.marked.size) : address);
  }

  private readers(found: ContactsAnswer): TemplateResult {
    if (!found.reads.length) return html`<span class="dim">no event between these two</span>`;
    const shown = this.all ? found.reads : found.reads.slice(0, MOST_SHOWN);
    const left = found.reads.length - shown.length;
    return html`${shown.map((one) => html`<a href=${this.sameBytes(one.address)} title=${one.title}>${one.address}</a>`)}${left
      ? html`<button @click=${() => this.showAll()}>${left} more</button>`
      : nothing}${found.more && !left ? html`<span class="dim">and ${found.more} more</span>` : nothing}`;
  }

  private showAll(): void {
    this.all = true;
    this.requestUpdate();
  }

  private setMode(mode: Mode): void {
    this.mode = mode;
    this.requestUpdate();
  }

  private setChanged(on: boolean): void {
    this.changed = on;
    this.askContacts();
    this.requestUpdate();
  }

  private mark(event: CustomEvent<{ span: Span; how: "new" | "refined" }>): void {
    const { span, how } = event.detail;
    const address = memoryAt(this.place, span.address, span.size);
    if (how === "new") selection.select(address);
    else selection.refine(address);
  }

  private go(event: Event): void {
    event.preventDefault();
    const text = this.renderRoot.querySelector<HTMLInputElement>(".go input")!.value;
    const span = parseSpan(text);
    this.bad = span ? "" : `"${text}" is no address of memory. Such as 0x18000000 or 0x18000000+0x40.`;
    this.requestUpdate();
    if (span) selection.select(memoryAt(this.place, span.address, span.size));
  }
}

customElements.define("pg-memory", MemoryPanel);
