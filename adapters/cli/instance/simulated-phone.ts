import type { Client } from "../../../src/client/index.ts";

/** Name of the simulated network. */
const SIMULATOR = "simulator";
/** Timeout for the link page, ms. */
const PAGE_TIMEOUT_MS = 10_000;

/** True if an instance's phone is simulated, so that the code cannot be scanned. */
export async function isSimulated(client: Client, instanceId: string, signal: AbortSignal): Promise<boolean> {
  const { connection } = await client.instances.get(instanceId, { expand: ["connection"], signal });
  return connection?.provider === SIMULATOR;
}

/**
 * Presses the button on the page behind a code. Returns false if the code has expired.
 * @throws {Error} the page cannot be reached, or did not link the phone
 */
export async function pressLink(page: string, signal?: AbortSignal): Promise<boolean> {
  const timeout = AbortSignal.timeout(PAGE_TIMEOUT_MS);
  const pageSignal = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const response = await fetch(page, { method: "POST", signal: pageSignal }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Error(`the link page ${page} cannot be reached; check RINGPORT_PUBLIC_URL on the server`, { cause });
  });
  await response.body?.cancel();
  if (response.status === 410) return false;
  if (!response.ok) throw new Error(`the link page ${page} returned ${response.status} instead of linking the phone`);
  return true;
}
