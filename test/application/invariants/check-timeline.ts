import type { Call } from "../../../src/domain/calls/call.ts";
import { eventFaults, fileFaults } from "../../support/call-events.ts";
import type { Run } from "./run.ts";

/** Checks the invariants of a final call's timeline. */
export async function checkTimeline(run: Run, call: Call): Promise<void> {
  const timeline = await run.database.events.ofCall(call.id, {});
  const types = timeline.map(({ type }) => type);
  const expectThat = (holds: boolean, detail: string) =>
    run.findings.expect("timeline", holds, () => `${call.id} ${detail}: ${types.join(", ")}`);
  for (const fault of eventFaults(call, timeline)) expectThat(false, `(${call.status}) ${fault}`);
  expectThat(types.at(-1) === call.status.toLowerCase(), "continues after its end");
  expectThat(new Set(timeline.map(({ id }) => id)).size === timeline.length, "has an event twice");
  const times = timeline.map(({ timestamp }) => timestamp);
  expectThat(
    times.every((time, i) => time >= (times[i - 1] ?? 0)),
    `is not ordered (${times})`,
  );
  const size = run.fileSizes.get(call.id);
  if (size !== undefined) for (const fault of fileFaults(call, timeline, size)) expectThat(false, fault);
  const { heardMs = 0, heardRatio = null, durationMs = 0 } = call.outcome ?? {};
  expectThat((heardMs ?? 0) <= durationMs, `was heard ${heardMs} of ${durationMs} ms`);
  if (heardMs === null) expectThat(heardRatio === null && call.dialingAt !== null, "lacks its heard_ms");
  else if (call.message.type === "DYNAMIC_STREAM") expectThat(heardRatio === null, "has a heard ratio");
  else if (call.startedAt !== null && call.outcome?.heardEvidence === "none")
    expectThat(heardRatio === null, `has a heard ratio of ${heardRatio} without evidence`);
  else expectThat(heardRatio !== null && heardRatio >= 0 && heardRatio <= 1, `has a heard ratio of ${heardRatio}`);
}
