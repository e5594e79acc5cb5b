// Notes and bookmarks of the user, which the server keeps beside the capture. Other windows may change them.

import { askJson } from "../shared/api";
import { Latest } from "../shared/latest";

export interface Note {
  address: string;
  /** Empty for a bookmark. */
  text: string;
}

interface NotesAnswer {
  file: string;
  notes: Note[];
}

class NotesStore extends EventTarget {
  file = "";
  notes: Note[] = [];
  readonly latest = new Latest(() => this.dispatchEvent(new Event("change")));
  private opened: Promise<void> | null = null;

  constructor() {
    super();
    // Another window of the same capture may have written some.
    addEventListener("focus", () => void (this.opened && this.ask("/api/notes", {})));
  }

  /** Read them, once. */
  open(): Promise<void> {
    return (this.opened ??= this.ask("/api/notes", {}));
  }

  of(address: string): Note | null {
    return this.notes.find((note) => note.address === address) ?? null;
  }

  put(address: string, text: string): Promise<void> {
    return this.ask("/api/note", { at: address, text });
  }

  remove(address: string): Promise<void> {
    return this.ask("/api/forget", { at: address });
  }

  private ask(path: string, values: Record<string, string>): Promise<void> {
    return this.latest.ask(
      (signal) => askJson<NotesAnswer>(path, "notes", values, signal),
      (answer) => {
        this.file = answer.file;
        this.notes = answer.notes;
      },
    );
  }
}

export const notes = new NotesStore();
