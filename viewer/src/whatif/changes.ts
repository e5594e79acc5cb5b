// What is another way in B: choices, and registers from a place on. Written as the command line takes them.

export interface Changes {
  /** NAME=VALUE */
  set: string[];
  /** REGISTER.FIELD=VALUE@ADDRESS */
  force: string[];
}

export const NOTHING: Changes = { set: [], force: [] };

/** With a choice; one of the same name is replaced, and the value that A has is none. */
export function withChoice(changes: Changes, name: string, value: string, inA: string): Changes {
  const others = changes.set.filter((text) => !text.startsWith(`${name}=`));
  return { ...changes, set: value === inA ? others : [...others, `${name}=${value}`] };
}

/** The value of a choice in B. */
export function choiceIn(changes: Changes, name: string, inA: string): string {
  return changes.set.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1) ?? inA;
}

/** With an override; one of the same register, field and place is replaced. */
export function withForce(changes: Changes, what: string, value: string, place: string): Changes {
  const others = changes.force.filter((text) => !(text.startsWith(`${what}=`) && text.endsWith(`@${place}`)));
  return { ...changes, force: [...others, `${what}=${value.trim()}@${place}`] };
}

export function without(changes: Changes, text: string): Changes {
  return { set: changes.set.filter((one) => one !== text), force: changes.force.filter((one) => one !== text) };
}

export function same(one: Changes, other: Changes): boolean {
  return String(one.set) === String(other.set) && String(one.force) === String(other.force);
}

export function isNothing(changes: Changes): boolean {
  return !changes.set.length && !changes.force.length;
}

/** Changes that were kept as text; nothing where the text is none. */
export function read(text: string | null): Changes {
  try {
    const { set, force } = JSON.parse(text ?? "") as Partial<Changes>;
    const texts = (list: unknown): string[] =>
      Array.isArray(list) ? list.filter((one): one is string => typeof one === "string") : [];
    return { set: texts(set), force: texts(force) };
  } catch {
    return NOTHING;
  }
}
