// Runs of programs, those of one program together.

export interface Run {
  program: string;
  address: string;
}

export interface RunsOfProgram {
  program: string;
  addresses: string[];
}

/** Runs with those of the same program together, in the order in which programs come first. */
export function byProgram(runs: readonly Run[]): RunsOfProgram[] {
  const found = new Map<string, string[]>();
  for (const { program, address } of runs) {
    const addresses = found.get(program);
    if (addresses) addresses.push(address);
    else found.set(program, [address]);
  }
  return [...found].map(([program, addresses]) => ({ program, addresses }));
}
