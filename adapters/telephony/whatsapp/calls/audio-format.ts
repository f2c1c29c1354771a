/** Rate of a call's audio, Hz. */
export const SAMPLE_RATE = 16_000;
/** Length of a frame, ms. */
export const FRAME_MS = 60;
/** Samples of a frame. */
export const FRAME: number = (SAMPLE_RATE * FRAME_MS) / 1_000;
