import { INCOMPLETE_REASONS } from "../../domain/events.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { RecordingsClause } from "../recordings-contract.ts";
import { until } from "../waiting.ts";
import { expectKept } from "./kept.ts";
import { Take } from "./take.ts";

/** Time within which a fault is reported, ms. */
const REPORT_MS = 10_000;
/** More audio than fits on the full disk, ms. */
const TOO_MUCH_MS = 5_000;

/** Recordings that cannot be written; calls never notice. */
export function faultsContract(clause: RecordingsClause, expect: ContractRunner["expect"]): void {
  clause(
    "reports once that a recording is incomplete, keeps its beginning, and accepts more samples",
    async (under) => {
      const recordings = under.full?.();
      if (recordings === undefined)
        throw new Error("full() is missing: add it, or the reason why the recordings are infallible");
      const take = new Take(recordings, "call_1");
      take.write(TOO_MUCH_MS);
      await until(REPORT_MS, "It reports that the recording is incomplete", () => take.reasons.length > 0);
      take.write(4 * TOO_MUCH_MS); // the call goes on
      await take.writer.finish();
      await take.writer.finish();
      expect(take.reasons.length).toBe(1);
      expect(INCOMPLETE_REASONS.includes(take.reasons[0]!)).toBe(true);
      expect(take.writer.recordedMs).toBeLessThanOrEqual(TOO_MUCH_MS);
      const stored = await recordings.read("call_1");
      if (stored) await expectKept(expect, stored, take, "beginning");
      await recordings.forget(["call_1"]);
      expect(await recordings.read("call_1")).toBe(undefined);
      await recordings.close();
    },
  );
}
