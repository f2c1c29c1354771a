/** Resolves in the next turn of the event loop, after all microtasks, by the quickest timer of the runtime. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
