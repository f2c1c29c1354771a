import { type Transcription, TranscriptionFailed } from "../../ports/transcription.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { TranscriptionClause } from "../transcription-contract.ts";
import { until } from "../waiting.ts";
import { listen, type ScriptedListening } from "./listening.ts";
import { ScriptedSpeaker } from "./scripted-speaker.ts";

/** Maximum time for reporting a fault, ms. */
const REPORT_MS = 10_000;
/**
 * Number of turns (and their length, ms) beyond what any engine may queue, and the maximum time to push them on a busy
 * machine.
 */
const TURNS = 18;
const TURN_MS = 10_000;
const MAX_PUSH_MS = 5_000;

/** Sessions of an engine that refuses them or is unreachable. */
export function faultsContract(clause: TranscriptionClause, expect: ContractRunner["expect"]): void {
  /** The session; undefined if opening it fails with the error that the port defines for this case. */
  const tryListen = async (engine: Transcription): Promise<ScriptedListening | undefined> => {
    try {
      return await listen(engine);
    } catch (error) {
      expect(error instanceof TranscriptionFailed).toBe(true);
      return undefined;
    }
  };
  const expectReasons = ({ errors }: ScriptedListening): void => {
    for (const { error } of errors) {
      expect(error instanceof Error).toBe(true);
      expect(error.message.length).toBeGreaterThanOrEqual(10); // a sentence for an operator
    }
  };

  clause("reports why a session cannot be opened, and nothing after that", async (subject) => {
    const engine = subject.refused?.() ?? throwMissing();
    try {
      const listening = await tryListen(engine);
      if (listening === undefined) return;
      const speaker = new ScriptedSpeaker(engine, listening.session);
      speaker.say(subject.sayings[0]);
      const endIndex = (): number =>
        listening.events.findIndex((event) => event.type === "error" && !event.recoverable);
      await until(REPORT_MS, "It reports the end of the session", () => endIndex() >= 0);
      speaker.say(subject.sayings[1]);
      await listening.close();
      expect(endIndex()).toBe(listening.events.length - 1);
      expectReasons(listening);
    } finally {
      await engine.close();
    }
  });

  clause(
    "accepts samples without waiting while the engine is unreachable, reports the loss, and ends",
    async (subject) => {
      await (subject.cutOff?.() ?? throwMissing());
      const listening = await tryListen(subject.transcription);
      if (listening === undefined) return;
      const speaker = new ScriptedSpeaker(subject.transcription, listening.session);
      const startedAt = performance.now();
      for (let turn = 0; turn < TURNS; turn++) speaker.pause(TURN_MS);
      expect(performance.now() - startedAt).toBeLessThanOrEqual(MAX_PUSH_MS);
      await until(REPORT_MS, "It reports that a part is missing", () => listening.errors.length > 0);
      await listening.close();
      expect(listening.texts).toEqual([]);
      expectReasons(listening);
    },
  );
}

function throwMissing(): never {
  throw new Error("refused() or cutOff() is missing: add both, or the reason why the engine is infallible");
}
