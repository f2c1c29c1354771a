/** Keeps the screen on until the returned function is called, in browsers that can. */
export function keepScreenOn(): () => void {
  let lock: WakeLockSentinel | undefined;
  let isOver = false;
  const acquire = async (): Promise<void> => {
    if (document.visibilityState !== "visible" || !navigator.wakeLock) return;
    const acquired = await navigator.wakeLock.request("screen").catch(() => undefined); // refused on a low battery
    if (isOver) await acquired?.release();
    else lock = acquired;
  };
  // A browser releases the lock when the page is hidden.
  const shown = (): void => void acquire();
  document.addEventListener("visibilitychange", shown);
  void acquire();
  return () => {
    isOver = true;
    document.removeEventListener("visibilitychange", shown);
    void lock?.release();
  };
}
