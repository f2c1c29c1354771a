import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects the garbage of this process now, on every runtime, so that a measurement of memory has none. */
export function collectGarbage(): void {
  const { Bun } = globalThis as { Bun?: { gc(force: boolean): void } };
  if (Bun) Bun.gc(true);
  else {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
  }
}
