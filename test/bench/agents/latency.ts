import { END_OF_TURN_MS } from "../../../src/domain/agents/end-of-turn.ts";
import type { Transcription, TranscriptionSession } from "../../../src/index.ts";
import { progress, type Row } from "../benchmark.ts";
import { answered, ME, pause } from "../many-calls.ts";
import { quantile } from "../median.ts";
import type { Measurable } from "../under-runtime.ts";
import { agentCall, startAgents } from "./agent-world.ts";
import { numberIn, startProvider } from "./provider.ts";

/** Measures what Ringport adds to the latencies of its providers. */
export const measure: Measurable["measure"] = async ({ calls = 0, seconds = 0 }) => {
  const provider = await startProvider();
  /** The numbers of each call's turns, in order. */
  const numbers = new Map<string, number[]>();
  const { world, conversations } = await startAgents({
    baseUrl: provider.baseUrl,
    interruptsEvery: 2,
    through: (transcription) => noting(transcription, numbers),
  });
  try {
    progress(`${calls} calls`);
    const placed = await world.place((await world.link(calls)).map(agentCall));
    for (const { id } of placed) await answered(world.ringport, id);
    await pause(10_000); // code is compiled after these
    conversations.interruptions.length = 0;
    const before = conversations.turns.length;
    progress(`measuring for ${seconds} s`);
    await pause(seconds * 1_000);
    const interruptions = [...conversations.interruptions];
    const overheads: number[] = [];
    const added: number[] = [];
    const next = new Map<string, number>();
    for (const [index, { callId, endedAt, heardAt }] of conversations.turns.entries()) {
      const place = next.get(callId) ?? 0;
      next.set(callId, place + 1);
      const turn = provider.turns.get(numbers.get(callId)?.[place] ?? 0);
      if (turn === undefined || index < before) continue;
      overheads.push(heardAt - turn.speechAt);
      added.push(heardAt - endedAt - END_OF_TURN_MS - turn.transcriptionMs - turn.chatMs - turn.speechMs);
    }
    for (const { id } of placed) await world.ringport.calls.hangUp(ME, id);
    return [
      row("from the first byte of speech to the first audible frame, p95", overheads, 40),
      row("turn gap beyond end of turn and providers, p95", added, 60),
      row("from the callee's voice to the agent's last frame, p95", interruptions, 260),
    ];
  } finally {
    await world.stop();
    await provider.close();
  }
};

function row(what: string, values: readonly number[], wanted: number): Row {
  const [p50, p95, most] = [0.5, 0.95, 1].map((share) => quantile(values, share));
  const shown = (ms = Number.NaN) => ms.toFixed(1);
  return {
    what,
    measured: `${shown(p95)} ms (p50 ${shown(p50)}, max ${shown(most)} ms, ${values.length} times)`,
    wanted: `≤ ${wanted} ms`,
    reached: p95 !== undefined && p95 <= wanted,
  };
}

/** The same transcription; records the call of each turn. */
function noting(transcription: Transcription, numbers: Map<string, number[]>): Transcription {
  return {
    name: transcription.name,
    capabilities: transcription.capabilities,
    close: () => transcription.close(),
    async open(options, signal): Promise<TranscriptionSession> {
      const session = await transcription.open(options, signal);
      const own: number[] = [];
      numbers.set(options.callId, own);
      return {
        push: (samples, atMs) => session.push(samples, atMs),
        commit: () => session.commit(),
        close: () => session.close(),
        events: (async function* () {
          for await (const event of session.events) {
            if (event.type === "final") own.push(numberIn(event.text));
            yield event;
          }
        })(),
      };
    },
  };
}
