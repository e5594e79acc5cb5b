// Notes and bookmarks: a list of addresses with texts, and a field for the selection.

import { css, html, nothing, type TemplateResult } from "lit";
import { toFragment } from "../shared/address";
import { Panel, linked } from "../shared/panel";
import { selection } from "../shared/selection";
import { panelStyles } from "../shared/styles";
import { notes, type Note } from "./store";

/** As the server has it. */
const MOST_LETTERS = 1000;

export class NotesPanel extends Panel {
  static override styles = [
    panelStyles,
    css`
      form {
        padding: 8px;
        display: grid;
        grid-template-columns: 1fr max-content;
        gap: 4px 8px;
        border-bottom: 1px solid var(--line);
        flex: none;
      }
      form .place {
        grid-column: 1 / -1;
      }
      textarea {
        height: auto;
        min-height: 42px;
        padding: 4px 6px;
        resize: vertical;
      }
      ul {
        margin: 0;
        padding: 4px 0;
        list-style: none;
      }
      li {
        padding: 4px 8px;
        display: grid;
        grid-template-columns: 1fr max-content;
        gap: 0 8px;
        overflow-wrap: anywhere;
      }
      li.here {
        background: var(--chosen);
      }
      li p {
        grid-column: 1 / -1;
        margin: 0;
        white-space: pre-wrap;
      }
    `,
  ];

  private readonly changed = (): void => this.requestUpdate();
  private shownAt = "";

  override connectedCallback(): void {
    super.connectedCallback();
    notes.addEventListener("change", this.changed);
    void notes.open();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    notes.removeEventListener("change", this.changed);
  }

  protected selected(): void {
    this.requestUpdate();
  }

  protected override updated(): void {
    const field = this.renderRoot.querySelector("textarea");
    const known = notes.of(selection.address)?.text ?? "";
    const key = `${selection.address}\n${known}`;
    if (!field || key === this.shownAt) return;
    this.shownAt = key;
    field.value = known;
  }

  protected override render(): TemplateResult {
    const address = selection.address;
    const own = notes.of(address);
    return html`
      <form
        @submit=${(event: Event) => {
          event.preventDefault();
          void notes.put(address, this.renderRoot.querySelector("textarea")!.value.trim());
        }}
      >
        <span class="place mono">${address || "nothing is selected"}</span>
        <textarea
          maxlength=${MOST_LETTERS}
          aria-label="Note about the selection"
          placeholder="What is to be said of it. Without a text it is a bookmark."
          ?disabled=${!address}
          @keydown=${(event: KeyboardEvent) => {
            // Keys of the page are letters here.
            event.stopPropagation();
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.renderRoot.querySelector("form")!.requestSubmit();
          }}
        ></textarea>
        <button type="submit" ?disabled=${!address} title="Keep it (Ctrl+Enter)">${own ? "Change" : "Keep"}</button>
      </form>
      ${this.working(notes.latest)} ${this.problem(notes.latest.error)}
      <div class="scroll" tabindex="0" role="region" aria-label="Notes">
        ${notes.notes.length
          ? html`<ul>
              ${notes.notes.map((note) => this.note(note, note.address === address))}
            </ul>`
          : html`<div class="note">No notes. They are kept in ${notes.file || "a file"} beside the capture.</div>`}
      </div>
    `;
  }

  private note(note: Note, here: boolean): TemplateResult {
    return html`<li class=${here ? "here" : ""}>
      <a class="mono" href=${toFragment(note.address)}>${note.address}</a>
      <button aria-label="Remove the note about ${note.address}" title="Remove" @click=${() => void notes.remove(note.address)}>
        ✕
      </button>
      ${note.text ? html`<p>${linked(note.text)}</p>` : nothing}
    </li>`;
  }
}

customElements.define("pg-notes", NotesPanel);
