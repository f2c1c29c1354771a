import type { Transcription } from "../../ports/transcription.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { TranscriptionClause } from "../transcription-contract.ts";
import { settledWithin } from "../waiting.ts";
import { bestRate, listen, type ScriptedListening } from "./listening.ts";
import { isSaid, type Saying } from "./saying.ts";
import { ScriptedSpeaker } from "./scripted-speaker.ts";

/** Maximum time for ending a session, which should take "a few seconds" at most, ms. */
const CLOSE_MS = 10_000;
/** Maximum time for "at once" on a busy machine, ms. */
const AT_ONCE_MS = 3_000;

/** Clauses about the end of sessions and engines. */
export function endingsContract(clause: TranscriptionClause, expect: ContractRunner["expect"]): void {
  /** Expects that the session has ended: all its methods may be called, and have no effect. */
  const expectEnded = async (listening: ScriptedListening, speaker: ScriptedSpeaker, saying: Saying): Promise<void> => {
    await settledWithin(AT_ONCE_MS, "The events end", listening.whenEnded);
    const events = [...listening.events];
    speaker.say(saying);
    listening.session.commit();
    await settledWithin(AT_ONCE_MS, "An ended session closes", listening.session.close());
    await settledWithin(AT_ONCE_MS, "It is closed once more", listening.session.close());
    expect(listening.events).toEqual(events);
  };
  /** Expects that a session cannot be opened, or ends at once. */
  const expectRefused = async (transcription: Transcription, abort = new AbortController()): Promise<void> => {
    const opening = listen(transcription, { abort }).catch(() => undefined);
    const listening = await settledWithin(AT_ONCE_MS, "The session is opened, or refused", opening);
    if (listening) await settledWithin(AT_ONCE_MS, "Its events end", listening.whenEnded);
  };

  clause("delivers pending transcripts before a closed session ends; closing is idempotent", async (subject) => {
    const { transcription, sayings } = subject;
    const listening = await listen(transcription);
    const speaker = new ScriptedSpeaker(transcription, listening.session);
    speaker.sayLast(sayings[0]);
    const closing = Promise.all([listening.session.close(), listening.session.close()]);
    await settledWithin(CLOSE_MS, "The session is closed", closing);
    await expectEnded(listening, speaker, sayings[0]);
    expect(isSaid(listening.texts, sayings[0])).toBe(true);
    expect(listening.errors).toEqual([]);
  });

  clause("ends a session at once when its signal aborts, even with transcripts pending", async (subject) => {
    const { transcription, sayings } = subject;
    const listening = await listen(transcription);
    const speaker = new ScriptedSpeaker(transcription, listening.session);
    speaker.say(sayings[0]);
    listening.abort.abort();
    await expectEnded(listening, speaker, sayings[0]);
  });

  clause("leaves no session open if its signal is already aborted", async ({ transcription }) => {
    const abort = new AbortController();
    abort.abort();
    await expectRefused(transcription, abort);
  });

  clause("close() is idempotent and ends every session", async (subject) => {
    const { transcription, sayings } = subject;
    const sessions = [await listen(transcription), await listen(transcription)];
    const speakers = sessions.map(({ session }) => new ScriptedSpeaker(transcription, session));
    for (const speaker of speakers) speaker.say(sayings[0]);
    await settledWithin(AT_ONCE_MS, "The transcription is closed", transcription.close());
    await settledWithin(AT_ONCE_MS, "It is closed once more", transcription.close());
    for (const [i, listening] of sessions.entries()) await expectEnded(listening, speakers[i]!, sayings[0]);
    await expectRefused(transcription);
  });

  clause("tolerates a reader that stops", async ({ transcription, sayings }) => {
    const options = { callId: "call_1", speaker: "callee", sampleRate: bestRate(transcription) } as const;
    const session = await transcription.open(options, new AbortController().signal);
    const speaker = new ScriptedSpeaker(transcription, session);
    speaker.say(sayings[0]);
    for await (const _ of session.events) break;
    speaker.say(sayings[1]);
    await settledWithin(CLOSE_MS, "The session is closed", session.close());
  });
}
