import type { System } from "../ports.ts";
import type { DialogRequests } from "./dialog-requests.ts";

/** Maximum time for a peer to respond, ms. */
const PROBE_LIMIT_MS = 4_000;

/** Responses of a peer that does not know the dialog, and of a proxy that does not reach the peer (RFC 3261 section 12.2.1.2). */
const UNKNOWN_DIALOG: ReadonlySet<number> = new Set([408, 481]);

/**
 * Sends OPTIONS within a dialog (RFC 3261 section 11). Resolves with undefined if the peer knows the dialog, whatever it
 * thinks of the request, and if the call ends; otherwise with what shows that it does not.
 */
export function probeDialog(
  requests: DialogRequests,
  system: Pick<System, "after">,
  maySend?: () => boolean,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const cancel = system.after(PROBE_LIMIT_MS, () =>
      settle(`did not respond to OPTIONS for ${PROBE_LIMIT_MS / 1_000} s`),
    );
    const settle = (fault: string | undefined): void => {
      cancel();
      resolve(fault);
    };
    requests.send(
      "OPTIONS",
      {},
      {
        maySend,
        final: ({ status }) => settle(UNKNOWN_DIALOG.has(status) ? `responded to OPTIONS with ${status}` : undefined),
        failed: ({ message }) => settle(`could not be asked by OPTIONS: ${message}`),
        abandoned: () => settle(undefined),
      },
    );
  });
}
