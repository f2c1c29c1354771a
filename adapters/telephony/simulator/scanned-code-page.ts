import { escapeHtml } from "../../../src/base/html-page.ts";
import { within } from "../../../src/base/timers.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { Reply, RequestLike } from "../../../src/ports/web.ts";
import type { LinkTarget } from "../linking/link-attempt.ts";
import type { PendingLinkCodes } from "../linking/pending-link-codes.ts";
import { NOT_STORED, type PageText, STALE_CODE, scannedCode, webPage } from "../linking/web-page.ts";

/** Time for which the page waits for the link to be stored before it responds 503, ms. */
const STORE_TIMEOUT_MS = 5_000;

/** A simulated phone that can be linked. */
export interface SimulatedPhone extends LinkTarget {
  /**
   * Links the phone. Resolves with the number once the link is stored, or with undefined if the line is already linked
   * or closed. Concurrent calls share one link. Rejects if the link could not be stored.
   */
  accept(): Promise<string | undefined>;
}

/**
 * Serves the pages that a phone shows after scanning a code; returns undefined for other paths.
 * @param path the part after `/simulator`
 */
export async function simulatorLinkPage(
  codes: PendingLinkCodes<SimulatedPhone>,
  logger: Logger,
  path: string,
  request: RequestLike,
): Promise<Reply | undefined> {
  const { method } = request;
  const scanned = scannedCode(codes, path, method);
  if (scanned === undefined || "refusal" in scanned) return scanned?.refusal;
  const { code } = scanned;
  const { target } = code.attempt;
  if (method !== "POST") {
    if (method === "GET") codes.reserve(code);
    return webPage(method, 200, linkForm(target.instance.name));
  }
  code.isUsed = true;
  let phone: string | undefined;
  try {
    const createTimeoutError = () => new Error(`not stored within ${STORE_TIMEOUT_MS} ms`);
    phone = await within(target.accept(), {
      system: codes.system,
      ms: STORE_TIMEOUT_MS,
      timeoutError: createTimeoutError,
    });
  } catch (error) {
    code.isUsed = false; // the user may press the button again
    logger.error({ err: error, instance_id: target.instance.id }, "simulator: the link could not be stored");
    return webPage(method, 503, NOT_STORED, { "retry-after": "2" });
  }
  if (phone === undefined) return webPage(method, 410, STALE_CODE);
  if (/\bapplication\/json\b/.test(request.headers.get("accept") ?? ""))
    return {
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify({ linked: true, instance_id: target.instance.id, phone }),
    };
  return webPage(method, 200, linkedPage(target.instance.name, phone));
}

function linkForm(name: string): PageText {
  return {
    title: "Link this phone",
    body: `<p>“${escapeHtml(name)}” will place its calls through this simulated phone.</p>
<form method="post"><button>Link this phone</button></form>`,
  };
}

function linkedPage(name: string, phone: string): PageText {
  return {
    title: "Linked",
    body: `<p class="mark" aria-hidden="true">✓</p>
<p>“${escapeHtml(name)}” now places its calls as ${escapeHtml(phone)}. You can close this page.</p>`,
  };
}
