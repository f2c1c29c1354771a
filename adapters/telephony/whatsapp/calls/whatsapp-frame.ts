/** Rate of a call's audio, Hz. */
export const SAMPLE_RATE = 16_000;
/** Length of a frame, ms. */
export const WHATSAPP_FRAME_MS = 60;
/** Number of samples per frame. */
export const WHATSAPP_FRAME: number = (SAMPLE_RATE * WHATSAPP_FRAME_MS) / 1_000;
