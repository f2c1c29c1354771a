/** Keeps the screen on until the returned function is called, if the browser supports that. */
export function keepScreenOn(): () => void {
  let lock: WakeLockSentinel | undefined;
  let isReleased = false;
  const acquire = async (): Promise<void> => {
    if (document.visibilityState !== "visible" || !navigator.wakeLock) return;
    const newLock = await navigator.wakeLock.request("screen").catch(() => undefined); // refused on a low battery
    if (isReleased) await newLock?.release();
    else lock = newLock;
  };
  // A browser releases the lock when the page is hidden.
  const onVisible = (): void => void acquire();
  document.addEventListener("visibilitychange", onVisible);
  void acquire();
  return () => {
    isReleased = true;
    document.removeEventListener("visibilitychange", onVisible);
    void lock?.release();
  };
}
