// Shapes of `flow`, the stages that make the colours of a draw, and which of them belong together.

export interface FlowValue {
  text: string;
  /** "#rrggbb", or empty where the value is no colour. */
  color: string;
}

export interface FlowInput {
  name: string;
  operand: string;
  /** The stage that makes it; empty where none does. */
  stage: string;
  value: FlowValue | null;
}

export interface FlowPart {
  name: string;
  operation: string;
  inputs: FlowInput[];
  scale: string;
  output: FlowValue | null;
}

export interface FlowStage {
  name: string;
  parts: FlowPart[];
  output: FlowValue | null;
  notes: string[];
  idle: boolean;
  program: string | null;
}

/** Stages to show: those that pass their input on are left out, but for what is read from them. */
export function shownStages(stages: readonly FlowStage[], all: boolean): FlowStage[] {
  return all ? [...stages] : stages.filter((stage) => !stage.idle);
}

/** The stage that an input comes from, past those that pass their input on. */
export function madeBy(stages: readonly FlowStage[], name: string): string {
  const byName = new Map(stages.map((stage) => [stage.name, stage]));
  for (let left = stages.length; left > 0; left -= 1) {
    const stage = byName.get(name);
    const before = stage?.idle ? stage.parts[0]?.inputs[0]?.stage : "";
    if (!before) return name;
    name = before;
  }
  return name;
}

/** Whether a stage reads another one that is shown. */
export function reads(stages: readonly FlowStage[], stage: FlowStage, from: FlowStage, all: boolean): boolean {
  const inputs = stage.parts.flatMap((part) => part.inputs);
  return inputs.some((input) => input.stage !== "" && (all ? input.stage : madeBy(stages, input.stage)) === from.name);
}
