const frames = new Map<string, Int16Array>();

/**
 * The array of so many samples that all calls of this thread use for one purpose, one call after the other within its tick.
 * A thousand arrays would not stay in the processor's cache; this one does.
 */
export function sharedFrame(purpose: "pulled" | "encoded" | "decoded" | "heard", samples: number): Int16Array {
  const key = `${purpose} ${samples}`;
  const frame = frames.get(key) ?? new Int16Array(samples);
  frames.set(key, frame);
  return frame;
}
