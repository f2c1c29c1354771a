import { concatBytes } from "../../../../src/base/concat-bytes.ts";
import { escapeHtml } from "../../../../src/base/html-page.ts";
import { within } from "../../../../src/base/timers.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { Reply, RequestLike } from "../../../../src/ports/web.ts";
import type { TransportKind } from "../../../sip-stack/transport/transport.ts";
import type { LinkTarget } from "../../linking/link-attempt.ts";
import type { IssuedCode, PendingLinkCodes } from "../../linking/pending-link-codes.ts";
import { NOT_STORED, type PageText, STALE_CODE, scannedCode, webPage } from "../../linking/web-page.ts";
import { formText } from "./form-text.ts";
import type { AccountFaults, SipAccount } from "./sip-account.ts";

/** Time limit for trying an account and storing the link, after which the page responds 503, ms. */
const ENTRY_TIMEOUT_MS = 20_000;

/** The result of entering an account. */
export type AccountVerdict =
  | { readonly verdict: "linked"; readonly phone: string | null }
  | { readonly verdict: "invalid"; readonly faults: AccountFaults }
  /** The server refused the account. */
  | { readonly verdict: "refused"; readonly reason: string }
  /** Another account is being tried, or there have been too many attempts; wait until the next attempt, ms. */
  | { readonly verdict: "wait"; readonly waitMs: number }
  /** The line is already linked, or closed. */
  | { readonly verdict: "unavailable" };

/** A line that can be linked to an account. */
export interface AccountTarget extends LinkTarget {
  /** Tries the account and stores it. Rejects if it could not be stored. */
  enter(account: SipAccount): Promise<AccountVerdict>;
}

/**
 * The page behind a QR code, on which the owner of a number enters their SIP account. Its address is known only to
 * people who have seen the code, so no other page can send a form here. Undefined if the path is not such a page.
 * @param path the path after `/sip`
 */
export async function accountPage(
  codes: PendingLinkCodes<AccountTarget>,
  logger: Logger,
  path: string,
  request: RequestLike,
): Promise<Reply | undefined> {
  const { method } = request;
  const scanned = scannedCode(codes, path, method);
  if (scanned === undefined || "refusal" in scanned) return scanned?.refusal;
  const { code } = scanned;
  if (method === "HEAD") return webPage(method, 200, formText(code.attempt.target.instance.name));
  codes.reserve(code);
  return method === "GET"
    ? webPage(method, 200, formText(code.attempt.target.instance.name))
    : submitAccount(codes, code, logger, request);
}

async function submitAccount(
  { system }: PendingLinkCodes<AccountTarget>,
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
    const createTimeoutError = () => new Error(`not stored within ${ENTRY_TIMEOUT_MS} ms`);
    verdict = await within(target.enter(account), { system, ms: ENTRY_TIMEOUT_MS, timeoutError: createTimeoutError });
  } catch (error) {
    logger.error({ err: error, instance_id: target.instance.id }, "sip: the account could not be stored");
    return webPage("POST", 503, NOT_STORED, { "retry-after": "2" });
  }
  switch (verdict.verdict) {
    case "linked":
      return webPage("POST", 200, linkedText(target.instance.name, account, verdict.phone));
    case "invalid":
      return webPage("POST", 422, formText(target.instance.name, account, verdict.faults));
    case "refused":
      return webPage("POST", 422, formText(target.instance.name, account, {}, verdict.reason));
    case "wait": {
      const seconds = Math.max(1, Math.ceil(verdict.waitMs / 1000));
      const reason = `Too many attempts. Please wait ${seconds} s before the next one.`;
      return webPage("POST", 429, formText(target.instance.name, account, {}, reason), {
        "retry-after": String(seconds),
      });
    }
    case "unavailable":
      return webPage("POST", 410, STALE_CODE);
  }
}

const TOO_LARGE: PageText = {
  title: "The form is too long",
  body: "<p>Please go back and enter shorter values.</p>",
};

function linkedText(name: string, { user, server }: SipAccount, phone: string | null): PageText {
  const number = phone === null ? "" : ` as ${escapeHtml(phone)}`;
  const account = `${escapeHtml(user)} at ${escapeHtml(server)}`;
  return {
    title: "Linked",
    body: `<p class="mark" aria-hidden="true">✓</p>
<p>“${escapeHtml(name)}” now calls over ${account}${number}. You can close this page.</p>`,
  };
}

/** Maximum size of a form, bytes: more than all fields at their maximum length. */
const MAX_BYTES = 16_384;
/** Maximum length of a field, characters. */
const MAX_CHARACTERS = 255;
const TRANSPORTS: readonly TransportKind[] = ["udp", "tcp", "tls"];

/** The fields of a submitted form; undefined if it is too long. */
async function readForm(body: RequestLike["body"]): Promise<URLSearchParams | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(new TextDecoder().decode(concatBytes(chunks)));
}

/** The account entered in a form, not validated; an empty field is undefined. */
function accountIn(form: URLSearchParams): SipAccount {
  const text = (name: string): string | undefined => form.get(name)?.trim().slice(0, MAX_CHARACTERS) || undefined;
  const transport = TRANSPORTS.find((kind) => kind === form.get("transport"));
  return {
    // Users paste the whole address.
    server: (text("server") ?? "").replace(/^sips?:/i, ""),
    transport: transport ?? "udp",
    user: text("user") ?? "",
    password: form.get("password")?.slice(0, MAX_CHARACTERS) || undefined,
    authUser: text("authUser"),
    domain: text("domain"),
    callerId: text("callerId"),
    register: form.get("register") !== null,
  };
}
