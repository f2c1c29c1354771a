import type { TLSSocket } from "node:tls";

/** A look at a certificate takes no longer, ms. */
const PATIENCE_MS = 2_000;

/**
 * What an unverified certificate's real fault is, where the runtime does not tell: Deno says of one that is out of date
 * what it says of one that nobody signed. Looks at the certificate once more, without trust; nothing is sent.
 *
 * @param look begins a handshake that takes any certificate
 */
export async function outOfDate(fault: unknown, look: () => TLSSocket): Promise<unknown> {
  if ((fault as { code?: string }).code !== "UNABLE_TO_VERIFY_LEAF_SIGNATURE") return fault;
  const dates = await certificateDates(look);
  if (dates === undefined) return fault;
  const now = Date.now();
  const code = dates.until < now ? "CERT_HAS_EXPIRED" : dates.from > now ? "CERT_NOT_YET_VALID" : undefined;
  return code === undefined ? fault : Object.assign(new Error(code, { cause: fault }), { code });
}

async function certificateDates(look: () => TLSSocket): Promise<{ from: number; until: number } | undefined> {
  const socket = look();
  try {
    return await new Promise((resolve) => {
      socket.once("secureConnect", () => {
        const { valid_from, valid_to } = socket.getPeerCertificate();
        const dates = { from: Date.parse(valid_from), until: Date.parse(valid_to) };
        resolve(Number.isNaN(dates.from) || Number.isNaN(dates.until) ? undefined : dates);
      });
      socket.setTimeout(PATIENCE_MS, () => resolve(undefined));
      socket.on("error", () => resolve(undefined));
      socket.once("close", () => resolve(undefined));
    });
  } finally {
    socket.destroy();
  }
}
