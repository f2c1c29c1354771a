import type { Playout } from "../../../audio/playout/playout.ts";
import type { Call } from "../../../domain/calls/call.ts";
import type { SkippedText } from "../../../domain/spoken-text/speakable-text.ts";
import type { Demand } from "../speech/fair-turns.ts";

/** The message of one call, prepared before dialling and then played on the leg. */
export interface PreparedMessage {
  /**
   * Resolves when the beginning is ready: a second of it, or all of a shorter message. Called once, before `samples`.
   * @param onStarted called when rendering starts: when it is the call's turn and the storage has responded
   * @throws {ProgramFailed} the message cannot be rendered, or has no sound
   * @throws {StorageUnavailable} its audio file cannot be read now
   */
  prepare(onStarted: () => void): Promise<void>;
  /**
   * The whole message from its beginning, at the rate of the playout. Called once.
   * @throws {ProgramFailed}
   */
  samples(playout: Playout): AsyncIterable<Int16Array>;
  /** Reports the skipped parts: known parts immediately, and others as they are found. Called once. */
  onSkipped?(report: (passage: SkippedText) => void): void;
  /** Share of the accepted message that the samples contain, as far as is known, 0 to 1. Default: 1. */
  readonly playableShare?: number;
  /** Stops rendering. Idempotent. */
  cancel(): void;
}

/** The demand of a message: measured by its prepared audio, and by its playout once the call has a leg. */
export class MessageDemand implements Demand {
  readonly userId: string;
  readonly instanceId: string;
  /** Called at the start of each turn. */
  begin: () => void = () => {};
  preparedMs = 0;
  playout: Playout | undefined;

  constructor({ userId, instanceId }: Call) {
    this.userId = userId;
    this.instanceId = instanceId;
  }

  get isPlaying(): boolean {
    return this.playout !== undefined && this.playout.clockMs > 0;
  }

  get aheadMs(): number {
    return this.playout?.queuedMs ?? this.preparedMs;
  }

  /** True before the call has a leg: until then, its audio is prepared only during its turns. */
  get isSteady(): boolean {
    return this.playout === undefined;
  }
}
