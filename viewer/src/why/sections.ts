// The text of an answer as a tree: a line owns the deeper lines that follow it, and can be folded with them.

export interface Section {
  line: string;
  /** The line's number in the text. */
  number: number;
  parts: Section[];
}

// Lines of one pixel's story begin with a bar; it says the same as the depth.
const DEPTH = /^[\s|]*/;

/** The text's sections. Lines of `conclusion`, with which the text begins, are left out: they stand above it. */
export function sectionsOf(text: string, conclusion: readonly string[] = []): Section[] {
  const lines = text.split("\n");
  let first = 0;
  while (first < lines.length && first < conclusion.length && lines[first]!.trim() === conclusion[first]!.trim()) {
    first += 1;
  }
  const roots: Section[] = [];
  const open: { depth: number; section: Section }[] = [];
  for (const [index, line] of lines.slice(first).entries()) {
    if (!line.trim()) continue;
    const lead = DEPTH.exec(line)![0];
    const depth = lead.length;
    const section = { line: line.slice(depth), number: first + index, parts: [] };
    while (open.length && open.at(-1)!.depth >= depth) open.pop();
    (open.at(-1)?.section.parts ?? roots).push(section);
    open.push({ depth, section });
  }
  return roots;
}

/** How many lines a section has, itself included. */
export function linesOf(section: Section): number {
  return section.parts.reduce((sum, part) => sum + linesOf(part), 1);
}

const DRAW = /^f\d+\/d\d+ /;
const PRIMITIVE = /^primitive \d+/;

/**
 * The sections that are open at any depth: of the event that the reason names, and of its primitive. Where no draw wrote
 * the pixel, the last draw there is open, as it says why not.
 */
export function openSections(sections: readonly Section[], reason: string): Set<Section> {
  const all: Section[] = [];
  const visit = (some: readonly Section[]): void => {
    for (const one of some) {
      all.push(one);
      visit(one.parts);
    }
  };
  visit(sections);
  const place = /f\d+\/[de]\d+/.exec(reason)?.[0];
  const named = all.filter((one) => place !== undefined && one.line.startsWith(`${place} `));
  const last = all.filter((one) => one.parts.length && DRAW.test(one.line)).at(-1);
  if (!named.some((one) => DRAW.test(one.line)) && last) named.push(last);
  const primitive = /primitive \d+/.exec(reason)?.[0];
  const found = new Set(named);
  for (const one of named) {
    const primitives = one.parts.filter((part) => PRIMITIVE.test(part.line));
    const wanted = primitive ? primitives.filter((part) => PRIMITIVE.exec(part.line)![0] === primitive) : primitives.slice(-1);
    for (const part of wanted) found.add(part);
  }
  return found;
}
