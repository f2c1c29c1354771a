const MOVES = ["queued", "ringing", "answered"];
const FINAL = ["completed", "failed"];

/** A final call, as stored or as read; `startedAt` in any form. */
interface FinalCall {
  readonly status: string;
  readonly startedAt: unknown;
}

/** Faults of the events of a final call, which are all of them, in order. */
export function storyFaults(
  { status, startedAt }: FinalCall,
  events: readonly { readonly type: string; readonly sequence: number | null }[],
): string[] {
  const types = events.map(({ type }) => type);
  const sequences = events.map(({ sequence }) => sequence);
  const faults: string[] = [];
  if (sequences.some((sequence, index) => sequence !== index + 1)) faults.push(`has the numbers ${sequences}`);
  const finals = types.filter((type) => FINAL.includes(type)).join();
  if (finals !== status.toLowerCase()) faults.push(`has the final events "${finals}"`);
  if (types[0] !== "queued") faults.push("does not begin with queued");
  for (const move of MOVES) if (types.filter((type) => type === move).length > 1) faults.push(`has ${move} twice`);
  if (types.includes("answered") !== (startedAt !== null)) faults.push(`has started_at ${startedAt}`);
  return faults;
}
