import { htmlPage } from "../../../src/base/html-page.ts";
import type { Reply } from "../../../src/ports/web.ts";
import type { LinkTarget } from "./link-attempt.ts";
import type { IssuedCode, PendingLinkCodes } from "./pending-link-codes.ts";

/** The contents of a page. */
export interface PageText {
  /** Text, not HTML. */
  readonly title: string;
  /** HTML. */
  readonly body: string;
}

const UNKNOWN_CODE: PageText = {
  title: "We do not know this code",
  body: "<p>Please scan the QR code once more. It changes every 20 seconds.</p>",
};
export const STALE_CODE: PageText = {
  title: "This code is no longer valid",
  body: "<p>It has been used, or it is too old. Please scan the one that is shown now.</p>",
};
const WRONG_METHOD: PageText = {
  title: "That does not work here",
  body: "<p>Please open this page in a browser and press the button.</p>",
};
export const NOT_STORED: PageText = {
  title: "This phone could not be linked just now",
  body: "<p>Please go back and try again in a moment.</p>",
};

const LINK_PATH = /^\/link(?:\/([^/]*))?\/?$/;

/**
 * The code whose page is requested, or the refusal of the request; undefined if the path is not such a page. The caller
 * marks the code as used before it awaits anything, so that of two simultaneous requests one is refused.
 * @param path the part after the network's path
 */
export function scannedCode<Target extends LinkTarget>(
  codes: PendingLinkCodes<Target>,
  path: string,
  method: string,
): { readonly code: IssuedCode<Target> } | { readonly refusal: Promise<Reply> } | undefined {
  const match = LINK_PATH.exec(path);
  if (match === null) return undefined;
  const code = codes.find(match[1] ?? "");
  if (code === undefined) return { refusal: webPage(method, 404, UNKNOWN_CODE) };
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return { refusal: webPage(method, 405, WRONG_METHOD, { allow: "GET, HEAD, POST" }) };
  return codes.accepts(code) ? { code } : { refusal: webPage(method, 410, STALE_CODE) };
}

/** A page for a phone's browser; its forms go to this server only. */
export async function webPage(
  method: string,
  status: number,
  { title, body }: PageText,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { html, contentSecurityPolicy } = await htmlPage(title, body, "card");
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": contentSecurityPolicy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      ...headers,
    },
    body: method === "HEAD" ? undefined : html,
  };
}
