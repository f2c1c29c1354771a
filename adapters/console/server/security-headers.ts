import type { Reply } from "../../../src/ports/web.ts";

/** The policy of the pages: files of this server only, and no inline scripts or styles. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'none'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The policy of every other response. */
const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const REQUIRED_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "microphone=(self), camera=(), geolocation=(), display-capture=(), payment=(), usb=()",
};

/**
 * Adds the headers that every response of the console has. Headers that are already set, such as the policy of a
 * network's page, are kept. No page of another origin may read the response, whatever CORS allows for the HTTP interface.
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
