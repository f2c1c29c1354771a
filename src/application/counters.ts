import type { TurnMetrics } from "../domain/agents/turn-metrics.ts";
import type { CallType } from "../domain/calls/call.ts";

/** The latencies of all agents' turns at one stage. */
export interface StageLatency {
  readonly sumMs: number;
  readonly turns: number;
}

/** A stage of a turn that has a latency. */
export type TurnStage = Exclude<keyof TurnMetrics, "input" | "interrupted">;

/** Counters of this process since it started. */
export class Counters {
  /** Number of ended calls by status and reason, such as `FAILED/busy`. */
  readonly outcomes: Map<string, number> = new Map();
  readonly created: Partial<Record<CallType, number>> = {};

  readonly turnStages: Partial<Record<TurnStage, StageLatency>> = {};
  /** Number of agents' turns that the callee interrupted. */
  interruptions = 0;

  callCreated(type: CallType): void {
    this.created[type] = (this.created[type] ?? 0) + 1;
  }

  callEnded(status: string, reason: string): void {
    const key = `${status}/${reason}`;
    this.outcomes.set(key, (this.outcomes.get(key) ?? 0) + 1);
  }

  /** Counts the turns of a call that has ended. */
  agentTurns(turns: readonly TurnMetrics[]): void {
    for (const { input: _, interrupted, ...stages } of turns) {
      if (interrupted) this.interruptions++;
      for (const [stage, ms] of Object.entries(stages) as [TurnStage, number | null][]) {
        if (ms === null) continue;
        const latency = this.turnStages[stage] ?? { sumMs: 0, turns: 0 };
        this.turnStages[stage] = { sumMs: latency.sumMs + ms, turns: latency.turns + 1 };
      }
    }
  }
}
