import { Refusal } from "../../../src/domain/refusal.ts";
import type { Findings } from "./invariant.ts";
import type { Process } from "./process.ts";

/** Kind of a request. */
export type RequestKind =
  | "create"
  | "create instance"
  | "create batch"
  | "change batch"
  | "hang up"
  | "delete"
  | "unlink"
  | "scan"
  | "configure"
  | "stream";

/** The response, as over HTTP. */
export type ResponseKind = "done" | "not found" | "unavailable" | "refused";

/** One request and its response. Times are ms on the monotonic clock of its process. */
export interface RecordedRequest {
  readonly kind: RequestKind;
  /** The id of its call or instance; "" for a creation. */
  readonly subject: string;
  readonly process: Process;
  /** See {@link Process.life}. */
  readonly life: string;
  readonly askedAt: number;
  response?: ResponseKind;
  respondedAt?: number;
}

/** Every request of a run. Requests pending at a process's death never get a response. */
export class Requests {
  readonly #findings: Findings;
  readonly all: RecordedRequest[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Records a request and, later, its response. */
  record<T>(
    process: Process,
    kind: RequestKind,
    subject: string,
    request: Promise<T>,
    done: (result: T) => void = () => {},
  ): RecordedRequest {
    const entry: RecordedRequest = { kind, subject, process, life: process.life, askedAt: process.system.monotonic() };
    this.all.push(entry);
    const settle = (response: ResponseKind) => {
      entry.response = response;
      entry.respondedAt = process.system.monotonic();
    };
    request.then(
      (result) => {
        // The person who scans the code sees the result on the phone just before the process dies.
        if (!process.isAlive && kind !== "scan") return;
        settle("done");
        done(result);
      },
      (error: unknown) => {
        if (!process.isAlive) return;
        settle(this.#responseOf(kind, error));
      },
    );
    return entry;
  }

  find(kind: RequestKind, subject: string): RecordedRequest[] {
    return this.all.filter((request) => request.kind === kind && request.subject === subject);
  }

  #responseOf(kind: RequestKind, error: unknown): ResponseKind {
    if (error instanceof Refusal && error.code === "storage_unavailable") return "unavailable";
    if (error instanceof Refusal) return error.code.endsWith("_not_found") ? "not found" : "refused";
    if ((error as Error).name === "StorageUnavailable") return "unavailable";
    this.#findings.add("no-surprise", `"${kind}" failed with ${error}`);
    return "refused";
  }
}
