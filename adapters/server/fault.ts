import type { Reply } from "../../src/ports/web.ts";

/** A problem document (RFC 9457) for errors that occur before the application is reached. */
export function fault(status: number, title: string, code: string, detail: string): Reply {
  return {
    status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
    body: JSON.stringify({ type: "about:blank", title, status, detail, code }),
  };
}

/** Response if the application has rejected, which should never happen. */
export function brokenApp(): Reply {
  return fault(500, "Internal server error", "internal_error", "the request could not be handled");
}

/** True for a refusal, false for an accepted WebSocket. */
export function isReply(decision: object): decision is Reply {
  return "status" in decision;
}
