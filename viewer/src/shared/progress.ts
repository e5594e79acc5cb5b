// How far the machine is with something that takes long, as the server tells all pages.

export interface Part {
  panel: string;
  done: number;
  of: number;
}

class Progress extends EventTarget {
  /** Null while nothing that takes long is done. */
  part: Part | null = null;

  heard({ busy, panel = "", done, of }: { busy: boolean; panel?: string; done?: number; of?: number }): void {
    const part = busy && done !== undefined && of ? { panel, done, of } : null;
    if (!part && !this.part) return;
    this.part = part;
    this.dispatchEvent(new Event("change"));
  }
}

export const progress = new Progress();
