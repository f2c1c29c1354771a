const WIDTH = 40;

/** Bar that shows the heard part of a message, with seconds. */
export function progressBar(heardMs: number, lengthMs: number): string {
  const heard = Math.min(heardMs, lengthMs);
  return `heard ${partBar(heard, lengthMs)} ${secondsText(heard)} of ${secondsText(lengthMs)}`;
}

/** `4.4 s`. */
export function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Bar that shows the downloaded part of a file, with megabytes. @param total undefined if unknown */
export function downloadBar(bytes: number, total: number | undefined): string {
  if (total === undefined) return megabytesText(bytes);
  return `${partBar(Math.min(bytes, total), total)} ${megabytesText(bytes)} of ${megabytesText(total)}`;
}

/** `4.4 MB`. */
export function megabytesText(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A bar that shows a part of a whole. */
export function partBar(part: number, total: number): string {
  const filledColumns = Math.round((total === 0 ? 1 : part / total) * WIDTH);
  return `${"█".repeat(filledColumns)}${"░".repeat(WIDTH - filledColumns)}`;
}
