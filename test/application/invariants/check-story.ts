import type { Call } from "../../../src/domain/call.ts";
import type { Run } from "./run.ts";

const FINAL = ["completed", "failed"];

/** Checks what is true of the timeline of a final call, however it went. */
export async function checkStory(run: Run, call: Call): Promise<void> {
  const timeline = await run.database.events.ofCall(call.id, {});
  const types = timeline.map(({ type }) => type);
  const tell = (truth: boolean, detail: string) =>
    run.findings.expect("story", truth, () => `${call.id} ${detail}: ${types.join(", ")}`);
  const final = call.status === "COMPLETED" ? "completed" : "failed";
  tell(String(types.filter((type) => FINAL.includes(type))) === final, `(${call.status}) has other final events`);
  tell(types.at(-1) === final, "goes on after its end");
  tell(types[0] === "queued", "does not begin with its creation");
  for (const once of ["queued", "ringing", "answered"])
    tell(types.filter((type) => type === once).length <= 1, `has "${once}" twice`);
  tell(types.includes("answered") === (call.startedAt !== null), `has started_at ${call.startedAt}`);
  tell(new Set(timeline.map(({ id }) => id)).size === timeline.length, "has an event twice");
  const times = timeline.map(({ timestamp }) => timestamp);
  tell(
    times.every((time, i) => time >= (times[i - 1] ?? 0)),
    `is not ordered (${times})`,
  );
  const { heardMs = 0, heardRatio = null, durationMs = 0 } = call.outcome ?? {};
  // Frames go out in the moments between a decision to end the call and its hang-up.
  tell(call.startedAt === null || heardMs <= durationMs + 20, `was heard ${heardMs} of ${durationMs} ms`);
  if (call.message.type === "DYNAMIC_STREAM") tell(heardRatio === null, "has a heard ratio");
  else tell(heardRatio !== null && heardRatio >= 0 && heardRatio <= 1, `has a heard ratio of ${heardRatio}`);
}
