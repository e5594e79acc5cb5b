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
