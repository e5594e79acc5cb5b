// A widget where it is shown: a line with the capture and the address, and the panels below it.

import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { EventsStore } from "../events/events_store";
import { Meshes } from "../mesh/asking";
import { fromFragment, parseAddress } from "../shared/address";
import { Asker } from "../shared/asker";
import { problem, type Panel } from "../shared/panel";
import type { Session } from "../shared/session";
import { panelStyles } from "../shared/styles";
import { colours } from "./colours";
import { Kernel } from "./kernel";
import type { Given, Model } from "./model";
import { ModelSelection } from "./model_selection";
import { followTheme } from "./theme";

const TITLES: Record<string, string> = { picture: "Picture", why: "Why" };
/** Parts of the width that the first of two panels may have. */
const [LEAST_PART, MOST_PART, FIRST_PART, STEP] = [0.2, 0.8, 0.6, 0.04];

export class NotebookView extends LitElement {
  static override styles = [
    colours,
    panelStyles,
    css`
      :host {
        --font: 12px/18px system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
        box-sizing: border-box;
        border: 1px solid var(--edge);
        border-radius: 3px;
        overflow: hidden;
        container-type: inline-size;
        text-align: left;
      }
      .name {
        font-weight: 600;
        color: var(--strong);
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        min-width: 6ch;
      }
      .facts {
        color: var(--dim);
        white-space: nowrap;
      }
      .head {
        flex-wrap: nowrap;
      }
      .go {
        flex: 0 1 30ch;
        min-width: 10ch;
      }
      .go input {
        width: 100%;
        font: var(--mono);
      }
      .go input[aria-invalid="true"] {
        border-color: var(--bad);
      }
      .state {
        color: var(--dim);
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .state.lost {
        color: var(--bad);
        white-space: normal;
      }
      .panels {
        flex: 1 1 0;
        min-height: 0;
        display: flex;
        position: relative;
      }
      .panels > .panel {
        flex: 1 1 0;
        min-width: 0;
        min-height: 0;
        height: auto;
      }
      .edge {
        flex: none;
        width: 5px;
        background: var(--line);
        cursor: col-resize;
        touch-action: none;
      }
      .edge:hover,
      .edge:focus-visible {
        background: var(--accent);
        outline: none;
      }
      @container (max-width: 560px) {
        .panels {
          flex-direction: column;
        }
        .panels > .edge {
          width: auto;
          height: 5px;
          cursor: row-resize;
        }
        .facts {
          display: none;
        }
      }
      .still {
        position: absolute;
        inset: 0;
        display: flex;
        justify-content: center;
        align-items: center;
        background: var(--well);
      }
      .still img {
        max-width: 100%;
        max-height: 100%;
        image-rendering: pixelated;
      }
    `,
  ];

  model!: Model;
  private kernel!: Kernel;
  private session!: Session & { selection: ModelSelection };
  private readonly panels = new Map<string, Panel>();
  private still = "";
  private share = FIRST_PART;
  private unwatch = (): void => {};
  private readonly onModel = (): void => this.arrange();
  private readonly onStill = (): void => this.showStill();

  /** Show a widget in an element of the notebook. Returns what ends that. */
  static show({ model, el }: Given): () => void {
    const view = document.createElement("pg-notebook") as NotebookView;
    view.model = model;
    // Jupyter's keys, such as 0 0, are not meant while this has the focus.
    el.dataset["lmSuppressShortcuts"] = "true";
    el.append(view);
    return () => view.end();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.kernel) return;
    const asker = new Asker((...request) => this.kernel.carry(...request));
    const store = new EventsStore(asker);
    const names = (): string[] => namesOf(this.model);
    this.session = {
      asker,
      selection: new ModelSelection(this.model),
      store,
      meshes: new Meshes(asker, store),
      scrolls: true,
      has: (panel) => names().includes(panel),
      show: () => {},
    };
    this.kernel = new Kernel(this.model, asker.tab);
    this.unwatch = followTheme(this);
    for (const [target, event] of [[this.kernel, "change"], [store, "change"], [this.session.selection, "change"]] as const) {
      target.addEventListener(event, () => this.requestUpdate());
    }
    this.model.on("change:panels", this.onModel);
    this.model.on("change:height", this.onModel);
    this.model.on("change:_still", this.onStill);
    // What is pressed here is not for the notebook.
    for (const event of ["keydown", "keypress", "keyup"]) this.addEventListener(event, (one) => one.stopPropagation());
    this.renderRoot.addEventListener("click", (event) => this.follow(event));
    this.showStill();
    this.arrange();
  }

  private end(): void {
    this.unwatch();
    this.model.off("change:panels", this.onModel);
    this.model.off("change:height", this.onModel);
    this.model.off("change:_still", this.onStill);
    this.session.selection.end();
    this.remove();
    this.kernel.end();
    URL.revokeObjectURL(this.still);
  }

  /** Panels and height as the model has them. */
  private arrange(): void {
    this.style.height = `${Number(this.model.get("height")) || 0}px`;
    for (const name of namesOf(this.model)) {
      if (this.panels.has(name)) continue;
      const panel = document.createElement(`pg-${name}`) as Panel;
      panel.session = this.session;
      panel.className = "panel";
      panel.setAttribute("role", "region");
      panel.setAttribute("aria-label", TITLES[name] ?? name);
      this.panels.set(name, panel);
    }
    this.requestUpdate();
  }

  /** The picture that is kept in the notebook stands there until the kernel answers, or for good if there is none. */
  private showStill(): void {
    const kept: unknown = this.model.get("_still");
    URL.revokeObjectURL(this.still);
    this.still =
      ArrayBuffer.isView(kept) && kept.byteLength
        ? URL.createObjectURL(new Blob([kept as ArrayBufferView<ArrayBuffer>], { type: "image/png" }))
        : "";
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const { capture, opening } = this.session.store;
    const { address } = this.session.selection;
    const shown = namesOf(this.model).map((name) => this.panels.get(name)!);
    return html`
      <div class="bar head">
        <span class="name" title=${capture?.name ?? ""}>${capture?.name ?? "pocketgpu"}</span>
        ${capture
          ? html`<span class="facts">${capture.console} · ${capture.frames} ${capture.frames === 1 ? "frame" : "frames"}</span>`
          : nothing}
        <form class="go" @submit=${(event: Event) => this.go(event)}>
          <input
            type="text"
            spellcheck="false"
            autocomplete="off"
            aria-label="Address"
            aria-invalid=${!parseAddress(address)}
            title="Address: f3, f3/d17, f3/top/px8,9"
            .value=${address}
          />
        </form>
        <span class="group">${this.stepButton(-1)} ${this.stepButton(1)}</span>
        ${this.stateText()}
      </div>
      <div class="panels">
        ${opening.error ? problem(opening.error) : shown.map((panel, index) => [index ? this.edge() : nothing, panel])}
        ${!capture && !opening.error && this.still ? html`<div class="still"><img src=${this.still} alt="The picture as it was saved" /></div>` : nothing}
      </div>
    `;
  }

  protected override updated(): void {
    const [first, second] = namesOf(this.model).map((name) => this.panels.get(name)!);
    if (first) first.style.flexGrow = second ? String(this.share * 100) : "";
    if (second) second.style.flexGrow = String((1 - this.share) * 100);
  }

  private stepButton(step: 1 | -1): TemplateResult {
    const { store, selection } = this.session;
    const address = store.tree.drawBeside(selection.address, step);
    const name = step < 0 ? "Previous draw" : "Next draw";
    return html`<button
      aria-label=${name}
      title=${address ? `${name}: ${address}` : name}
      ?disabled=${!address}
      @click=${() => address && selection.select(address)}
    >
      ${step < 0 ? "‹" : "›"}
    </button>`;
  }

  private stateText(): TemplateResult {
    const { lost, late, heard } = this.kernel;
    let text = "";
    if (lost) text = "The kernel of this widget has ended or was restarted. Run the cell again.";
    else if (late) text = heard ? "waits for the kernel" : "no kernel answers: run the cell again, or wait until others are done";
    return html`<span class=${lost ? "state lost" : "state"} role="status">${text}</span>`;
  }

  private go(event: Event): void {
    event.preventDefault();
    const input = this.renderRoot.querySelector<HTMLInputElement>(".go input")!;
    const text = input.value;
    const address = fromFragment(text.slice(text.lastIndexOf("#") + 1)).trim();
    if (parseAddress(address)) this.session.selection.select(address);
    else input.setAttribute("aria-invalid", "true");
  }

  /** Links lead to addresses, here not by the location. */
  private follow(event: Event): void {
    if (event.defaultPrevented) return;
    const link = event.composedPath().find((one): one is HTMLAnchorElement => one instanceof HTMLAnchorElement);
    const target = link?.getAttribute("href");
    if (!target?.startsWith("#")) return;
    event.preventDefault();
    this.session.selection.select(fromFragment(target));
  }

  // -- the edge between two panels ----------------------------------------------------------------------------------------
  private edge(): TemplateResult {
    return html`<div
      class="edge"
      role="separator"
      tabindex="0"
      aria-label="Edge between the panels"
      aria-valuenow=${Math.round(this.share * 100)}
      @pointerdown=${(event: PointerEvent) => (event.target as Element).setPointerCapture(event.pointerId)}
      @pointermove=${(event: PointerEvent) => this.drag(event)}
      @keydown=${(event: KeyboardEvent) => this.key(event)}
    ></div>`;
  }

  private drag(event: PointerEvent): void {
    if (!event.buttons) return;
    const box = this.renderRoot.querySelector(".panels")!.getBoundingClientRect();
    const beside = getComputedStyle(this.renderRoot.querySelector(".panels")!).flexDirection === "row";
    this.divide(beside ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    this.divide(this.share + step);
  }

  private divide(share: number): void {
    this.share = Math.min(MOST_PART, Math.max(LEAST_PART, share));
    this.requestUpdate();
  }
}

function namesOf(model: Model): string[] {
  const names: unknown = model.get("panels");
  return Array.isArray(names) ? names.filter((name) => name in TITLES) : [];
}
