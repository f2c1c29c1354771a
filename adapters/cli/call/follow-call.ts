import type { CallEvent, Client, FinishedCall } from "../../../src/client/index.ts";
import { exitCodeOf } from "../exit-codes.ts";
import type { Interruption } from "../serve/signals.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { outcomeLines } from "./outcome-lines.ts";
import { Timeline } from "./timeline.ts";

/** Options for following a call. */
export interface FollowOptions {
  readonly json: boolean;
  readonly interrupted: Interruption;
  /** True if Ctrl-C hangs up; otherwise the call continues. */
  readonly hangsUp: boolean;
}

/** Maximum age of the displayed state, ms. */
const MAX_PAUSE_MS = 250;

/** Shows a call until it ends, then its outcome; returns the exit code. */
export async function followCallInTerminal(client: Client, id: string, options: FollowOptions): Promise<number> {
  const { json, interrupted, hangsUp } = options;
  const events: CallEvent[] = [];
  const timeline = new Timeline();
  const onProgress = (event: CallEvent): void => {
    events.push(event);
    if (!json) timeline.show(event);
  };
  const report = (call: FinishedCall): void => {
    timeline.stop();
    if (json) printJson({ ...call, events });
    else for (const text of outcomeLines(call)) print(text);
  };
  const { signal } = interrupted;
  try {
    const call = await client.waitForCall(id, { onProgress, signal, longestPauseMs: MAX_PAUSE_MS });
    report(call);
    return exitCodeOf(call);
  } catch (error) {
    if (error !== signal.reason) throw error;
  } finally {
    timeline.stop();
  }
  if (hangsUp) {
    await hangUp(client, id);
    if (!json) printToStderr("hung up");
    const printedIds = new Set(events.map((event) => event.id));
    const onNewEvent = (event: CallEvent): void => (printedIds.has(event.id) ? undefined : onProgress(event));
    report(await client.waitForCall(id, { onProgress: onNewEvent }));
  } else if (!json) printToStderr(`the call continues: ringport calls show ${id} --follow`);
  return interrupted.exitCode();
}

/** Ends a call; does nothing if it has already ended. */
async function hangUp(client: Client, id: string): Promise<void> {
  await client.calls.hangUp(id).catch((error: { code?: string }) => {
    if (error.code !== "call_not_found") throw error;
  });
}
