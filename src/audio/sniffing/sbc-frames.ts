/** First byte of a frame, A2DP 1.3, appendix B; calls over Bluetooth have the other one, with fixed properties. */
const SYNC = 0x9c;
const FRAMES_NEEDED = 3;

/** True if frames of SBC, the codec of Bluetooth, follow each other from the beginning. */
export function isSbc(bytes: Uint8Array): boolean {
  let at = 0;
  for (let frames = 0; frames < FRAMES_NEEDED; frames++) {
    if (bytes[at] !== SYNC || bytes[at + 1] !== bytes[1] || at + 3 > bytes.length) return false;
    at += frameBytes(bytes[at + 1]!, bytes[at + 2]!);
  }
  return true;
}

function frameBytes(settings: number, bitpool: number): number {
  const blocks = 4 * (((settings >> 4) & 3) + 1);
  const mode = (settings >> 2) & 3;
  const subbands = settings & 1 ? 8 : 4;
  const channels = mode === 0 ? 1 : 2;
  // Separate channels have a bit pool each; joint stereo has a bit for each band.
  const bits = mode < 2 ? blocks * channels * bitpool : (mode === 3 ? subbands : 0) + blocks * bitpool;
  return 4 + (subbands * channels) / 2 + Math.ceil(bits / 8);
}
