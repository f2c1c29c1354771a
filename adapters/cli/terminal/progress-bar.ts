const WIDTH = 40;

/** Bar that shows the heard part of a message, with seconds. */
export function progressBar(heardMs: number, lengthMs: number): string {
  const heard = Math.min(heardMs, lengthMs);
  const share = lengthMs === 0 ? 1 : heard / lengthMs;
  const filled = Math.round(share * WIDTH);
  return `heard ${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${secondsText(heard)} of ${secondsText(lengthMs)}`;
}

/** `4.4 s`. */
export function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
