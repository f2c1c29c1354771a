import type { CallType } from "../domain/call.ts";

/** What this process has counted since it started. */
export class Counters {
  readonly outcomes: Record<string, number> = {};
  readonly created: Partial<Record<CallType, number>> = {};

  callCreated(type: CallType): void {
    this.created[type] = (this.created[type] ?? 0) + 1;
  }

  callEnded(status: string, reason: string): void {
    const key = `${status}/${reason}`;
    this.outcomes[key] = (this.outcomes[key] ?? 0) + 1;
  }
}
