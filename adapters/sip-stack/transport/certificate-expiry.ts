import type { TLSSocket } from "node:tls";

/** How long the handshake that reads a certificate may take, ms. */
const PATIENCE_MS = 2_000;

/**
 * The real fault of an unverified certificate if the runtime hides it: Deno reports an expired certificate like one of an
 * unknown authority. Reads the certificate in another handshake without verification; nothing is sent.
 *
 * @param look starts a handshake that accepts any certificate
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
