import type { StoredAudio } from "../../domain/calls/stored-audio.ts";
import type { Page } from "./list-page.ts";
import type { NewReceipt } from "./receipt-store.ts";

/** The result of storing an audio file. */
export type AudioInsertion =
  | { readonly kind: "created" }
  /** The user already has a file with this content, which now expires at the later of both times. */
  | { readonly kind: "existing"; readonly audio: StoredAudio }
  /** The user has the maximum number of files. */
  | { readonly kind: "at_limit" }
  /** The user would have stored too many bytes. */
  | { readonly kind: "over_budget" }
  /** A receipt with the same key already exists. */
  | { readonly kind: "repeated" }
  | { readonly kind: "user_deleted" };

/** Limits of a user's audio files. */
export interface AudioLimits {
  readonly maxFiles: number;
  /** Limit of everything that the user has stored, bytes: see `ByteBudget`. */
  readonly userBytes: number;
}

/**
 * Audio files that users have stored for calls. A deleted file stays readable for the calls and batches that were
 * stored with it (`message.audioId` of a call, `message.audio.audioId` of a batch) until they have ended.
 */
export interface AudioStore {
  /**
   * Stores a file, which counts towards its user's bytes, with a receipt. A file with the same content is not stored
   * again, even if both are stored concurrently. One that expired at `now` or earlier counts as deleted.
   */
  insert(
    audio: StoredAudio,
    file: Uint8Array,
    now: number,
    limits: AudioLimits,
    receipt?: NewReceipt,
  ): Promise<AudioInsertion>;
  /** A file's record; that of a deleted file while it is in use. */
  get(id: string): Promise<StoredAudio | undefined>;
  /** A user's files that are neither deleted nor expired at `now`, newest first. */
  list(userId: string, now: number, page: Page): Promise<StoredAudio[]>;
  /**
   * Deletes a file: at once if no call or batch uses it, otherwise when {@link purge} finds it unused. Returns false if
   * it is unknown or already deleted.
   */
  delete(id: string, at: number): Promise<boolean>;
  /**
   * Deletes files that expired at `now` or earlier, and removes deleted files that are no longer used; returns the number
   * of removed files.
   */
  purge(now: number): Promise<number>;
}
