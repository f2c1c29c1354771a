import { within } from "../../../../src/base/timeout.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { Reply, RequestLike } from "../../../../src/ports/web.ts";
import type { LinkTarget } from "../../linking/link-attempt.ts";
import type { IssuedCode, LinkCodes } from "../../linking/link-codes.ts";
import {
  escapeHtml,
  NOT_STORED,
  type PageText,
  STALE_CODE,
  UNKNOWN_CODE,
  WRONG_METHOD,
  webPage,
} from "../../linking/web-page.ts";
import type { Account, AccountFaults } from "./account.ts";
import { accountIn, readForm } from "./account-form.ts";
import { formText } from "./form-text.ts";

/** How long the page waits for the account to be tried and the link stored before it responds 503, ms. */
const ENTERED_WITHIN_MS = 20_000;
const LINK_PATH = /^\/link(?:\/([^/]*))?\/?$/;

/** What came of an account that somebody entered. */
export type AccountVerdict =
  | { readonly verdict: "linked"; readonly phone: string | null }
  | { readonly verdict: "faulty"; readonly faults: AccountFaults }
  /** The server was asked, and would not have it; a sentence. */
  | { readonly verdict: "refused"; readonly reason: string }
  /** Another one is being tried, or too many were; ms until it is worth while. */
  | { readonly verdict: "later"; readonly waitMs: number }
  /** The line wants no linking any more. */
  | { readonly verdict: "gone" };

/** A line that can be linked to an account. */
export interface AccountTarget extends LinkTarget {
  /** Tries the account and keeps it. Rejects when it could not be stored. */
  enter(account: Account): Promise<AccountVerdict>;
}

/**
 * The page behind a QR code, where the owner of a number enters his SIP account. Only who has seen the code knows its
 * address, so no other page can send a form here. Undefined when the path is not one of them.
 * @param path what follows `/sip`
 */
export async function accountPage(
  codes: LinkCodes<AccountTarget>,
  logger: Logger,
  path: string,
  request: RequestLike,
): Promise<Reply | undefined> {
  const match = LINK_PATH.exec(path);
  if (match === null) return undefined;
  const { method } = request;
  const code = codes.find(match[1] ?? "");
  if (code === undefined) return webPage(method, 404, UNKNOWN_CODE);
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return webPage(method, 405, WRONG_METHOD, { allow: "GET, HEAD, POST" });
  if (!codes.accepts(code)) return webPage(method, 410, STALE_CODE);
  if (method === "HEAD") return webPage(method, 200, formText(code.attempt.target.name));
  codes.reserve(code);
  return method === "GET"
    ? webPage(method, 200, formText(code.attempt.target.name))
    : entered(codes, code, logger, request);
}

async function entered(
  { system }: LinkCodes<AccountTarget>,
  code: IssuedCode<AccountTarget>,
  logger: Logger,
  request: RequestLike,
): Promise<Reply> {
  const { target } = code.attempt;
  const form = await readForm(request.body);
  if (form === undefined) return webPage("POST", 413, TOO_LARGE);
  const account = accountIn(form);
  let verdict: AccountVerdict;
  try {
    const late = () => new Error(`not stored within ${ENTERED_WITHIN_MS} ms`);
    verdict = await within(target.enter(account), { system, ms: ENTERED_WITHIN_MS, late });
  } catch (fault) {
    logger.error({ err: fault, instance_id: target.instanceId }, "sip: the account could not be stored");
    return webPage("POST", 503, NOT_STORED, { "retry-after": "2" });
  }
  switch (verdict.verdict) {
    case "linked":
      return webPage("POST", 200, linkedText(target.name, account, verdict.phone));
    case "faulty":
      return webPage("POST", 422, formText(target.name, account, verdict.faults));
    case "refused":
      return webPage("POST", 422, formText(target.name, account, {}, verdict.reason));
    case "later": {
      const seconds = Math.max(1, Math.ceil(verdict.waitMs / 1000));
      const reason = `Too many tries. Please wait ${seconds} s before the next one.`;
      return webPage("POST", 429, formText(target.name, account, {}, reason), { "retry-after": String(seconds) });
    }
    case "gone":
      return webPage("POST", 410, STALE_CODE);
  }
}

const TOO_LARGE: PageText = {
  title: "That is too much",
  body: "<p>No account has so long a name. Please go back and try again.</p>",
};

function linkedText(name: string, { user, server }: Account, phone: string | null): PageText {
  const as = phone === null ? "" : ` as ${escapeHtml(phone)}`;
  const where = `${escapeHtml(user)} at ${escapeHtml(server)}`;
  return {
    title: "Linked",
    body: `<p>“${escapeHtml(name)}” now calls over ${where}${as}. You can close this page.</p>`,
  };
}
