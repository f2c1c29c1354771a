/** More zero crossings per second than a voice has on average over its vowels. */
const MAX_CROSSINGS = 2_400;

/**
 * True if a frame sounds like white noise, a knock or a sharp s, and not like the vowels of a voice: by its zero crossings.
 * Allocates nothing.
 */
export function isHiss(frame: Int16Array, sampleRate: number): boolean {
  let crossings = 0;
  for (let at = 1; at < frame.length; at++) if ((frame[at - 1]! ^ frame[at]!) < 0) crossings++;
  return crossings * sampleRate > MAX_CROSSINGS * frame.length;
}
