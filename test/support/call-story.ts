const MOVES = ["queued", "ringing", "answered"];
const FINAL = ["completed", "failed"];

/** A final call, as stored or as read; `startedAt` in any form. */
interface FinalCall {
  readonly status: string;
  readonly startedAt: unknown;
}

/** What is wrong with the events of a final call, by type and in order. */
export function storyFaults({ status, startedAt }: FinalCall, types: readonly string[]): string[] {
  const faults: string[] = [];
  const finals = types.filter((type) => FINAL.includes(type)).join();
  if (finals !== status.toLowerCase()) faults.push(`has the final events "${finals}"`);
  if (types[0] !== "queued") faults.push("does not begin with queued");
  for (const move of MOVES) if (types.filter((type) => type === move).length > 1) faults.push(`has ${move} twice`);
  if (types.includes("answered") !== (startedAt !== null)) faults.push(`has started_at ${startedAt}`);
  return faults;
}
