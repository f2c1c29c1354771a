import type { Transcription } from "../../ports/transcription.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { TranscriptionClause } from "../transcription-contract.ts";
import { within } from "../waiting.ts";
import { bestRate, type Listening, listen } from "./listening.ts";
import { isSaid, type Saying } from "./saying.ts";
import { Talker } from "./talker.ts";

/** The end of a session takes "a few seconds" at most, ms. */
const CLOSE_MS = 10_000;
/** "At once", on a machine that is busy, ms. */
const AT_ONCE_MS = 3_000;

/** How sessions, and engines, come to their end. */
export function endingsContract(clause: TranscriptionClause, expect: ContractRunner["expect"]): void {
  /** The session is over: whatever is done to it is fine, and nothing comes of it. */
  const isOver = async (listening: Listening, talker: Talker, saying: Saying): Promise<void> => {
    await within(AT_ONCE_MS, "The events end", listening.ended);
    const events = [...listening.events];
    talker.say(saying);
    listening.session.commit();
    await within(AT_ONCE_MS, "A session that is over is closed", listening.session.close());
    await within(AT_ONCE_MS, "It is closed once more", listening.session.close());
    expect(listening.events).toEqual(events);
  };
  /** No session comes of it that lasts. */
  const isRefused = async (transcription: Transcription, abort = new AbortController()): Promise<void> => {
    const opening = listen(transcription, { abort }).catch(() => undefined);
    const listening = await within(AT_ONCE_MS, "The session is opened, or refused", opening);
    if (listening) await within(AT_ONCE_MS, "Its events end", listening.ended);
  };

  clause("delivers pending transcripts when a session is closed, then ends; closing is idempotent", async (under) => {
    const { transcription, sayings } = under;
    const listening = await listen(transcription);
    const talker = new Talker(transcription, listening.session);
    talker.sayLast(sayings[0]);
    const both = Promise.all([listening.session.close(), listening.session.close()]);
    await within(CLOSE_MS, "The session is closed", both);
    await isOver(listening, talker, sayings[0]);
    expect(isSaid(listening.texts, sayings[0])).toBe(true);
    expect(listening.errors).toEqual([]);
  });

  clause("ends a session at once by its signal, though something is on its way", async (under) => {
    const { transcription, sayings } = under;
    const listening = await listen(transcription);
    const talker = new Talker(transcription, listening.session);
    talker.say(sayings[0]);
    listening.abort.abort();
    await isOver(listening, talker, sayings[0]);
  });

  clause("opens no session that lasts by a signal that was given before", async ({ transcription }) => {
    const abort = new AbortController();
    abort.abort();
    await isRefused(transcription, abort);
  });

  clause("ends every session when it is closed itself, which may come twice, and opens no more", async (under) => {
    const { transcription, sayings } = under;
    const sessions = [await listen(transcription), await listen(transcription)];
    const talkers = sessions.map(({ session }) => new Talker(transcription, session));
    for (const talker of talkers) talker.say(sayings[0]);
    await within(AT_ONCE_MS, "The transcription is closed", transcription.close());
    await within(AT_ONCE_MS, "It is closed once more", transcription.close());
    for (const [i, listening] of sessions.entries()) await isOver(listening, talkers[i]!, sayings[0]);
    await isRefused(transcription);
  });

  clause("is not disturbed by a reader that stops", async ({ transcription, sayings }) => {
    const options = { callId: "call_1", speaker: "callee", sampleRate: bestRate(transcription) } as const;
    const session = await transcription.open(options, new AbortController().signal);
    const talker = new Talker(transcription, session);
    talker.say(sayings[0]);
    for await (const _ of session.events) break;
    talker.say(sayings[1]);
    await within(CLOSE_MS, "The session is closed", session.close());
  });
}
