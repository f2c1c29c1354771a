import { errorText } from "../../../../src/base/error.ts";
import { DialError } from "../../../../src/ports/telephony.ts";

/** Wait before a number calls again if its client is at its limit, or if WhatsApp did not respond, ms. */
export const DIAL_RETRY_MS = 5_000;

/** A call that was refused for a reason unrelated to the number. */
export function refusedCall(detail: string): DialError {
  return new DialError("rejected_by_network", detail, { refusal: "call" });
}

/** The faults that a client's `startCall` reports, by its message. */
const FAULTS: readonly (readonly [message: RegExp, fault: () => DialError])[] = [
  [
    /^no device sessions to encrypt the call offer/,
    () => new DialError("unreachable", "the number has no device that can be called: no device sessions"),
  ],
  // The client first queries the callee's devices, unless they are cached.
  [/^client is not connected/, () => new DialError("line_lost", "the connection to WhatsApp is down")],
  [/^noise session not ready/, () => new DialError("line_lost", "the connection to WhatsApp is down")],
  // Each runtime words the error of a missing package differently, and includes the names of server folders.
  [
    /\blibmlow-wasm\b/,
    () => new DialError("internal_error", "the package libmlow-wasm is not installed, or broken: see ringport doctor"),
  ],
  [
    /^max concurrent calls reached/,
    () =>
      new DialError(
        "line_lost",
        "the client is at its limit of calls, which includes calls to the number: use voipPlugin({ maxConcurrentCalls: 4 })",
        { retryAfterMs: DIAL_RETRY_MS },
      ),
  ],
];

/** The reason why a client did not send an offer. */
export function dialFault(error: unknown): DialError {
  if (error instanceof DialError) return error;
  const text = errorText(error);
  const fault = FAULTS.find(([message]) => message.test(text))?.[1];
  // The offer may have been sent, so the call is not dialled again.
  return fault?.() ?? refusedCall(`the client reports: ${text}`);
}
