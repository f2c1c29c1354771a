import type { Journal } from "./journal.ts";

export interface BatchView {
  readonly id: string;
  readonly status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "CANCELLED";
  readonly counts: { readonly targets: number; readonly by_status: Readonly<Record<string, number>> };
}

export interface TargetView {
  readonly position: number;
  readonly phone_number: string;
  readonly status: "WAITING" | "CALLING" | "COMPLETED" | "FAILED" | "CANCELLED";
  readonly attempts: number;
  readonly call_id: string | null;
  readonly reason: string | null;
}

/** The requests and responses about a sequence's batch. */
export class BatchRecord {
  /** Numbers of the batch's targets, which no call outside the batch uses. */
  readonly numbers: readonly string[];
  readonly retry: { readonly on: readonly string[]; readonly times: number; readonly afterMs: number };
  id: string | undefined;
  /** True once the server has responded that it was started. */
  isStarted = false;
  /** Times from the response to a pause until the request to resume, ms since 1970-01-01 UTC. */
  readonly pauses: { readonly from: number; readonly to: number }[] = [];
  /** Time of the response to a cancellation, ms since 1970-01-01 UTC. */
  cancelledAt: number | undefined;
  /** True once a cancellation has been requested, which may have been stored without a response. */
  isCancelRequested = false;
  #finalStatus: string | undefined;

  constructor(numbers: readonly string[], retry: BatchRecord["retry"]) {
    this.numbers = numbers;
    this.retry = retry;
  }

  /** Records a status that was read; reports a violation if a final one has changed. */
  recordStatus(journal: Journal, { id, status }: BatchView): void {
    if (this.#finalStatus !== undefined && this.#finalStatus !== status)
      journal.reportViolation("a final batch never changes", id, `${this.#finalStatus}, then ${status}`);
    if (status === "COMPLETED" || status === "CANCELLED") this.#finalStatus = status;
    if (this.cancelledAt !== undefined && status !== "CANCELLED")
      journal.reportViolation("a confirmed write is stored", id, `cancel returned 200, but the batch is ${status}`);
  }
}
