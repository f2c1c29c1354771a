import type { Heard, HeardEvidence } from "./outcome.ts";

/** Number of steps from 0 to 1: shares of a message have four decimals. */
const STEPS = 10_000;
/** Maximum difference between two times of the same sound, ms: times are rounded. */
const ROUNDING_MS = 1;

/**
 * Share of an accepted message that was played, 0 to 1, with four decimals. It is 1 only if no sound is missing, not
 * even a short one.
 * @param heardMs length of the played part of its sound, out of `soundMs`, ms
 * @param playableShare the share of the message that its sound contains
 */
export function heardShare(heardMs: number, soundMs: number, playableShare: number): number {
  if (soundMs === 0) return 0;
  if (heardMs >= soundMs - ROUNDING_MS && heardMs > 0 && playableShare === 1) return 1;
  return Math.min(STEPS - 1, Math.round((heardMs / soundMs) * playableShare * STEPS)) / STEPS;
}

/**
 * Played part of an answered call, with its evidence.
 * @param share share of the message that was played; null for a call without a fixed message
 */
export function heardWith(heardEvidence: HeardEvidence, heardMs: number, share: number | null): Heard {
  if (heardEvidence === "none") return { heardMs, heardRatio: null, heardEvidence };
  return { heardMs, heardRatio: share, heardEvidence };
}

/** Time to speak a character at a usual pace, ms; for a text whose length is not known yet. */
const CHARACTER_MS = 65;

/**
 * The words of a text that were heard before it was interrupted: whole words, as many as their share of its length.
 * @param heardMs length of the played part
 * @param textMs length of the whole text; undefined if it is not known yet
 */
export function heardWords(text: string, heardMs: number, textMs = text.length * CHARACTER_MS): string {
  if (heardMs <= 0 || textMs <= 0) return "";
  if (heardMs >= textMs) return text;
  const head = text.slice(0, Math.floor((text.length * heardMs) / textMs));
  return head.slice(0, Math.max(0, head.search(/\s\S*$/))).trim();
}
