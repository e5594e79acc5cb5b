// The answers about memory, as docs/formats/view.md has them.

export interface EventName {
  address: string;
  event: string;
  kind: string;
  title: string;
}

export interface Bytes {
  address: string;
  size: number;
}

export interface FormatsAnswer {
  formats: { name: string; bits: number }[];
  layouts: string[];
  first: [string, string];
  /** An address to begin with. */
  start: string | null;
  event: EventName | null;
  writes: Bytes[];
  reads: Bytes[];
}

export interface ContactsAnswer {
  place: Bytes;
  written: EventName | null;
  next: EventName | null;
  reads: EventName[];
  /** Reads that are not listed. */
  more: number;
  /** The last frame that was looked at. */
  until: number;
}
