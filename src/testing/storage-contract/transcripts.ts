import type { Call } from "../../domain/calls/call.ts";
import type { TranscriptLine } from "../../domain/calls/transcript.ts";
import type { Clause } from "./scene.ts";

/** Transcripts of calls. */
export function transcriptsContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("a line with any characters is read unchanged, even after a restart", async (scene) => {
    const call = await scene.storedCall(await scene.storedInstance());
    const lines = [
      line(call, 0, { text: "odd \u0000\ud800 \u{1f600}", confidence: 0.1 + 0.2 }),
      line(call, 1, { speaker: "caller", confidence: null }),
    ];
    await scene.storage.transcripts.append(lines);
    await scene.reopen();
    scene.equal(await scene.storage.transcripts.ofCalls([call.id]), lines);
  });

  clause("lines are read in spoken order, whatever order they were stored in", async (scene) => {
    const { transcripts } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const lateLine = line(call, 0, { startMs: 5_000 });
    const earlyLine = line(call, 1, { startMs: 1_000 });
    const callerLine = line(call, 2, { startMs: 5_000, speaker: "caller" });
    await transcripts.append([lateLine]);
    await transcripts.append([earlyLine, callerLine]);
    scene.equal(await transcripts.ofCalls([call.id]), [earlyLine, lateLine, callerLine]);
  });

  clause("lines of an unknown call are dropped, and those of others are kept", async (scene) => {
    const { calls, transcripts } = scene.storage;
    const instance = await scene.storedInstance();
    const [keptCall, erasedCall] = [await scene.storedCall(instance), await scene.endedCall(instance)];
    await calls.remove([erasedCall.id]);
    await transcripts.append([line(erasedCall, 0), line(keptCall, 0)]);
    scene.equal(await transcripts.ofCalls([erasedCall.id, keptCall.id]), [line(keptCall, 0)]);
  });

  clause("the lines of several calls are read at once, without those of other calls", async (scene) => {
    const { transcripts } = scene.storage;
    const instance = await scene.storedInstance();
    const calls = [
      await scene.storedCall(instance),
      await scene.storedCall(instance),
      await scene.storedCall(instance),
    ];
    for (const call of calls) await transcripts.append([line(call, 0)]);
    const lines = await transcripts.ofCalls([calls[0]!.id, calls[2]!.id, scene.id("call")]);
    scene.equal(lines.map(({ callId }) => callId).toSorted(), [calls[0]!.id, calls[2]!.id].toSorted());
    scene.equal(await transcripts.ofCalls([]), []);
  });

  clause("a line that is already stored stays unchanged", async (scene) => {
    const { transcripts } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    const first = line(call, 0, { text: "first" });
    const next = line(call, 1, { startMs: 2_000 });
    await transcripts.append([first]);
    await transcripts.append([{ ...first, text: "again" }, next]);
    scene.equal(await transcripts.ofCalls([call.id]), [first, next]);
  });

  clause("appending no lines or many at once works", async (scene) => {
    const { transcripts } = scene.storage;
    const call = await scene.storedCall(await scene.storedInstance());
    await transcripts.append([]);
    const manyLines = Array.from({ length: 1_200 }, (_, position) => line(call, position, { startMs: position }));
    await transcripts.append(manyLines);
    scene.equal(await transcripts.ofCalls([call.id]), manyLines);
  });

  clause("a transcript is deleted with its call", async (scene) => {
    const { calls, transcripts } = scene.storage;
    const instance = await scene.storedInstance();
    const oldCall = await scene.endedCall(instance);
    const recentCall = await scene.endedCall(instance);
    for (const call of [oldCall, recentCall]) await transcripts.append([line(call, 0)]);
    await calls.remove(await calls.ended(recentCall.endedAt ?? 0, 10));
    scene.equal(await transcripts.ofCalls([oldCall.id, recentCall.id]), [line(recentCall, 0)]);
  });
}

function line({ id }: Pick<Call, "id">, position: number, patch: Partial<TranscriptLine> = {}): TranscriptLine {
  return {
    callId: id,
    position,
    speaker: "callee",
    text: "hello",
    timestamp: Date.UTC(2025, 0, 1) + position,
    startMs: 1_000,
    endMs: 2_000,
    confidence: 0.5,
    ...patch,
  };
}
