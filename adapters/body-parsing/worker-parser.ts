import { InternalError } from "../../src/base/error.ts";
import { audioPlace, UploadedAudio } from "../../src/domain/calls/audio-input.ts";
import type { BodyParser } from "../../src/ports/body-parser.ts";
import type { BodyJobs } from "./parse-job.ts";

/** Timeout for parsing a body, ms: enough for the largest body on a busy machine. */
const TIMEOUT_MS = 30_000;

/** The part of a worker pool that the parser uses, such as `WorkerPool`. */
export interface BodyWorkers {
  run(
    job: { readonly kind: "parse-body" } & BodyJobs["parse-body"]["input"],
    options: { readonly timeoutMs: number; readonly transfer: readonly ArrayBuffer[] },
  ): AsyncIterable<BodyJobs["parse-body"]["piece"]>;
}

/** Parses bodies in workers. Closing the parser leaves the worker pool open. */
export function workerParser(pool: BodyWorkers): BodyParser {
  return {
    async parse(bytes, bounds) {
      const { buffer, length } = bytes;
      const job = { kind: "parse-body", buffer, length, bounds } as const;
      for await (const result of pool.run(job, { timeoutMs: TIMEOUT_MS, transfer: [buffer] })) {
        if ("fault" in result) return result;
        const { value, audio } = result;
        const place = audio && audioPlace(value);
        if (place)
          (place as { audioBase64: unknown }).audioBase64 = new UploadedAudio(new Uint8Array(audio.file), audio.sha256);
        return { value };
      }
      throw new InternalError("the worker returned no result");
    },
    async close() {},
  };
}
