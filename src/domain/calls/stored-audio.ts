import type { Message } from "./call.ts";

/** The properties of a checked audio file. */
export type CheckedFile = Pick<
  Extract<Message, { type: "FIXED_AUDIO" }>,
  "format" | "durationMs" | "truncated" | "bytes"
>;

/** An audio file that a user has stored for calls. Times are ms since 1970-01-01 UTC. */
export interface StoredAudio {
  readonly id: string;
  readonly userId: string;
  /** The user's own name for it; null without one. */
  readonly name: string | null;
  /** SHA-256 of the file, lower-case hex. A user has at most one file with it that is not deleted. */
  readonly sha256: string;
  /** Size of the file, bytes. */
  readonly size: number;
  readonly file: CheckedFile;
  readonly createdAt: number;
  /** Time from which it can no longer be used for new calls; null: it is kept until it is deleted. */
  readonly expiresAt: number | null;
  /** Time of its deletion, if calls or batches that were accepted with it still use it; otherwise null. */
  readonly deletedAt: number | null;
}

/** Id of the stored file that the message of a call or a batch plays; undefined if it plays none. */
export function storedAudioId(message: { readonly type: string }): string | undefined {
  const { type, audioId, audio } = message as { type: string; audioId?: string; audio?: { audioId?: string } };
  return type === "FIXED_AUDIO" ? (audioId ?? audio?.audioId) : undefined;
}

/** True if the file can be used for new calls and batches at this time (ms since 1970-01-01 UTC). */
export function isUsable({ deletedAt, expiresAt }: StoredAudio, now: number): boolean {
  return deletedAt === null && (expiresAt === null || expiresAt > now);
}
