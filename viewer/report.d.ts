// What the scripts of a report (src/pocketgpu/sweeps/report/assets) have of each other, and the data that Python
// writes for them (`report/data.py`). For the compiler only: the scripts are shipped as they are.

/** The columns of all rows: each has one value for each row. */
interface Columns {
  capture: string[];
  state: number[];
  console: number[];
  work: number[];
  frames: number[];
  ms: (number | null)[];
  before: (number | null)[];
  ratio: (number | null)[];
  band: (number | null)[];
  /** Pairs (number of a rule or event, how many). */
  notes: [number, number][][];
  message: string[];
  /** A bit for each of `Data.kinds`. */
  kinds: number[];
  thumbnail: string[];
  features: number[][];
}

interface Rule {
  kind: "rule" | "event";
  name: string;
  severity: string;
  message: string;
}

/** The data of the page. */
interface Data {
  noun: string;
  part: number;
  states: string[];
  kinds: string[];
  consoles: string[];
  works: string[];
  features: string[];
  rules: Rule[];
  rows: Columns;
  compared: boolean;
  labels: [string, string];
  missing: string[];
  missing_count: number;
  versions: [string, number[]][];
}

/** A picture of a row. before, after: digests. difference: the place of a file. */
interface Shown {
  at: string;
  size: [number, number];
  before?: string;
  after?: string;
  difference?: string;
  change?: string;
  text?: string;
}

/** Name, severity, message, place, whether the place is an address, count, what became of it. */
type Note = [string, string, string, string, boolean, string, string];

interface Notes {
  shown: Note[];
  left: number;
}

type Pair = [string, string];

/** The details of a row. */
interface Details {
  file: string;
  options: string;
  state: [string, string, string];
  was?: Pair | null;
  pictures: Shown[];
  left: number;
  findings: Notes;
  events: Notes;
  counts: Pair[];
  details: Pair[];
  features: string[];
  values: [string, string, string][];
  times: number[];
  time?: string | null;
  ran?: Pair[];
}

type Pixel = [number, number];

/** What is selected: a row, a picture of it, a pixel of that. */
interface Place {
  index: number;
  at: string;
  pixel: Pixel | null;
}

type Attribute = string | number | boolean | null | undefined | ((event: any) => void);
type Child = Node | string | null | undefined;

/** `base.js`. */
interface Base {
  nonce: string;
  data: Data;
  rows: Columns;
  count: number;
  el(tag: string, attributes?: Record<string, Attribute>, ...children: (Child | Child[])[]): HTMLElement;
  plain(text: unknown): string;
  lines(text: unknown): string;
  number(value: number): string;
  counted(value: number, one: string): string;
  milliseconds(value: number): string;
  load(src: string): Promise<void>;
  arrived(part: number, found: Details[]): void;
  details(index: number): Promise<Details>;
  command(text: string): HTMLElement;
  copyButton(code: HTMLElement): HTMLElement;
  picturePlace(digest: string): string;
  severity(text: string): string;
  shortName(index: number): string;
  by(id: string): HTMLElement;
  /** A control of the form. */
  field(id: string): HTMLInputElement | HTMLSelectElement;
  kids(element: Element): HTMLElement[];
}

/** `list.js`. */
interface List {
  build(): void;
  choose(index: number, quiet?: boolean): void;
  showRule(rule: number): void;
  focus(): void;
  readonly first: number | undefined;
  readonly chosen: number;
  readonly length: number;
  readonly totals: number[];
  readonly events: number[];
  readonly BADGES: Record<string, string>;
  set onChoose(call: (index: number) => void);
  set onChange(call: () => void);
}

interface PictureView extends HTMLElement {
  turn(key: string): void;
}

interface Report extends Base {
  list: List;
  pictures: { view(picture: Shown, pixel: Pixel | null, onPixel: (pixel: Pixel | null) => void): PictureView };
  show: {
    show(index: number, at?: string, pixel?: Pixel | null): Promise<void>;
    step(by: number): void;
    turn(key: string): void;
    set onPlace(call: (place: Place) => void);
  };
  plots: { draw(onChoose: (index: number) => void): Promise<void>; readonly begun: boolean };
}

/** A row, and its value. */
type Point = [number, number];

type Colours = Record<"text" | "dim" | "line" | "ground" | "accent" | "bad" | "good" | "fill", string>;

/** A plot. rows: of its points, which are those of the trace `trace`. */
interface Plot {
  title: string;
  note: string;
  height?: number;
  rows: number[];
  trace?: number;
  traces: object[];
  layout: object;
}

interface PlotElement extends HTMLElement {
  on(event: string, call: (event: { points: { curveNumber: number; pointNumber: number }[] }) => void): void;
}

/** The part of Plotly that plots use. */
declare var Plotly: {
  newPlot(box: HTMLElement, traces: object[], layout: object, options: object): Promise<PlotElement>;
};
