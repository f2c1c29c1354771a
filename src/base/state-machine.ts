/**
 * A state machine as plain data: the next state for each state and input.
 * A state without inputs is final.
 */
export type Transitions<State extends string, Input extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Input, State>>>>
>;

/** The next state for `input`, or undefined if the table has no such move. */
export function nextState<S extends string, I extends string>(
  table: Transitions<S, I>,
  state: S,
  input: I,
): S | undefined {
  return table[state][input];
}

/** True if `state` has no moves. */
export function isFinal<S extends string, I extends string>(table: Transitions<S, I>, state: S): boolean {
  return Object.keys(table[state]).length === 0;
}

/** The table as a Mermaid state diagram, for the documentation. */
export function stateDiagram<S extends string, I extends string>(table: Transitions<S, I>, initial: S): string {
  const lines = ["stateDiagram-v2", `  [*] --> ${initial}`];
  for (const [from, moves] of Object.entries(table) as [S, Record<I, S>][]) {
    const byTarget = new Map<S, I[]>();
    for (const [input, to] of Object.entries(moves) as [I, S][]) byTarget.set(to, [...(byTarget.get(to) ?? []), input]);
    for (const [to, inputs] of byTarget) lines.push(`  ${from} --> ${to}: ${inputs.join(", ")}`);
    if (byTarget.size === 0) lines.push(`  ${from} --> [*]`);
  }
  return `${lines.join("\n")}\n`;
}
