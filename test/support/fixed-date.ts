import { afterEach, beforeEach, vi } from "vitest";
import { instantCrypto } from "./instant-crypto.ts";

/**
 * Sets the date of this file's tests to 1 January 2026, as in a new `World`, and makes signatures synchronous. The package that
 * verifies webhooks refuses messages whose timestamp is not within five minutes of its clock.
 */
export function useFixedDate(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ["Date"] });
    instantCrypto();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}
