// The programs that can be stepped through at the selection, and which run the selection's address names.

import { parseAddress, placeOf, placeOfText } from "../shared/address";
import type { Part, Steppable } from "./api";

/** The numbers of a part in an address's parts, "8,9" for px; null where it has none of the letter. */
function numbersIn(parts: readonly string[], { letter, limits }: Part): string | null {
  for (const part of parts) {
    const match = /^([a-z]+)(.*)$/.exec(part);
    if (match?.[1] === letter && match[2]!.split(",").length === limits.length) return match[2]!;
  }
  return null;
}

/** What an address says about the parts of a program, for the fields; null where it does not say a part. */
export function chosenIn(address: string, program: Steppable): (string | null)[] {
  const parts = address.split("/").slice(1);
  return program.parts.map((part) => numbersIn(parts, part));
}

/** Whether an address names one run of one of the programs. Of several parts, those that are missing are 0. */
export function namesRun(address: string, programs: readonly Steppable[]): boolean {
  return programs.some((program) =>
    program.parts.length ? chosenIn(address, program).some((numbers) => numbers !== null) : program.address === address,
  );
}

/**
 * What `programs` is asked about: pixels, and primitives of draws, as they are, everything else by its draw or launch; null:
 * nothing.
 */
export function placeFor(address: string): string | null {
  const parsed = parseAddress(address);
  if (!parsed) return null;
  const place = placeOf(parsed);
  if (parsed.pixel) return parsed.pass === undefined ? [place, parsed.screen, `px${parsed.pixel.join(",")}`].filter(Boolean).join("/") : null;
  const primitive = parsed.rest?.find((part) => PRIMITIVE.test(part));
  if (parsed.draw !== undefined && primitive) return `${place}/${primitive}`;
  return parsed.draw !== undefined || parsed.event !== undefined ? place : null;
}

/** Whether what was told of a place holds for another one, too: programs of a draw hold for the runs that they name. */
export function holdsFor(place: string | null, programs: readonly Steppable[], run: string): boolean {
  if (place === null) return false;
  const next = placeFor(run);
  return next === place || (next !== null && placeOfText(next) === placeOfText(place) && programs.some((one) => one.address === run));
}

const PRIMITIVE = /^t\d+$/;

/** The address of a run, from the texts of the fields; null where one is no list of so many numbers. */
export function runOf(program: Steppable, texts: readonly string[]): string | null {
  const parts: string[] = [];
  for (const [at, part] of program.parts.entries()) {
    const numbers = (texts[at] ?? "").split(/[,\s]+/).filter(Boolean);
    if (!numbers.length || numbers.length > part.limits.length || !numbers.every((one) => /^\d{1,9}$/.test(one))) return null;
    while (numbers.length < part.limits.length) numbers.push("0");
    parts.push(part.letter + numbers.map(Number).join(","));
  }
  return [program.address, ...parts].join("/");
}

/** What a field takes, for people: "0 to 23", "0 to 399, 0 to 224". */
export function rangeOf(part: Part): string {
  return part.limits.map((limit) => (limit === null ? "0 and up" : `0 to ${Math.max(0, limit - 1)}`)).join(", ");
}
