import type { Playout } from "../../../audio/playout.ts";
import type { Call } from "../../../domain/call.ts";
import type { Demand } from "../speech/fair-turns.ts";

/** The message of one call, prepared before anybody is dialled and then played on the leg. */
export interface Message {
  /**
   * Resolves when the beginning is ready: a second of it, or all of a shorter message. Called once, before `samples`.
   * @param begun called when it is being rendered, and waits for its turn or the storage no longer
   * @throws {ProgramFailed} it cannot be rendered, or has no sound
   * @throws {StorageUnavailable} what is stored of it cannot be read now
   */
  prepare(begun: () => void): Promise<void>;
  /**
   * The whole message from its beginning, at the rate of the playout that it is played from. Called once.
   * @throws {ProgramFailed}
   */
  samples(playout: Playout): AsyncIterable<Int16Array>;
  /** Stops rendering; twice is fine. */
  cancel(): void;
}

/** How urgently a message is rendered: by what was prepared, and once there is a leg by its playout. */
export class MessageDemand implements Demand {
  readonly userId: string;
  readonly instanceId: string;
  /** Called at the beginning of each turn. */
  begin: () => void = () => {};
  preparedMs = 0;
  playout: Playout | undefined;

  constructor({ userId, instanceId }: Call) {
    this.userId = userId;
    this.instanceId = instanceId;
  }

  get playing(): boolean {
    return this.playout !== undefined && this.playout.clockMs > 0;
  }

  get aheadMs(): number {
    return this.playout?.queuedMs ?? this.preparedMs;
  }
}
