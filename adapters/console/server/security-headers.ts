import type { Reply } from "../../../src/ports/web.ts";

/** The policy for the pages: only files from this server, and no inline scripts or styles. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'none'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The policy for all other responses. */
const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const REQUIRED_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "microphone=(self), camera=(), geolocation=(), display-capture=(), payment=(), usb=()",
};

/**
 * Adds the headers that every console response has. Headers that are already set, such as the policy of a network's
 * page, are kept. Pages from other origins may not read the response, whatever CORS allows for the HTTP API.
 */
export function withSecurityHeaders(reply: Reply): Reply {
  const headers = Object.entries(reply.headers).filter(([name]) => !name.startsWith("access-control-"));
  return {
    ...reply,
    headers: {
      "content-security-policy": DATA_POLICY,
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
      ...Object.fromEntries(headers),
      ...REQUIRED_HEADERS,
    },
  };
}
