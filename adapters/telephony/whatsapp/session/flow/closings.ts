/** Meaning of a closed connection for the session. */
export type Closing = {
  /**
   * - `resumes`: the client connects again immediately.
   * - `temporary`: the fault is temporary; the session tries again after a while.
   * - `declined`: WhatsApp has refused the login for a reason that may pass; the session tries again after a few
   * minutes.
   * - `outdated`: WhatsApp refuses this version of the client; the session tries again rarely.
   * - `replaced`: another client uses the link; another attempt would only fight it.
   * - `refused`: no attempt succeeds until the cause is fixed.
   * - `unlinked`: the credentials are void.
   */
  readonly kind: "resumes" | "temporary" | "declined" | "outdated" | "replaced" | "refused" | "unlinked";
  /** Reason, as a sentence for the owner of the number. */
  readonly reason: string;
};

/** The client's report of a closed connection. */
export interface ClosedConnection {
  readonly reason: string;
  readonly code?: number | undefined;
  /** True if the client has also lost its credentials. */
  readonly isLogout: boolean;
}

/** Closings that do not affect the credentials, by the client's reason. */
const HARMLESS_CLOSINGS: ReadonlyMap<string, Closing> = new Map<string, Closing>([
  ["stream_error_force_login", { kind: "resumes", reason: "WhatsApp asked for a new connection (515)" }],
  [
    "stream_error_replaced",
    {
      kind: "replaced",
      reason:
        "another client uses the link of this number; stop that client, then request a code for the instance or restart the server",
    },
  ],
  [
    "failure_client_too_old",
    {
      kind: "outdated",
      reason: "WhatsApp no longer accepts this version of the client (405); update the client library",
    },
  ],
  [
    "failure_bad_user_agent",
    {
      kind: "refused",
      reason: "WhatsApp refuses the client's description of itself (409); check the client's options",
    },
  ],
  ["failure_service_unavailable", { kind: "temporary", reason: "WhatsApp is unavailable (503)" }],
]);

/** Explanations of void credentials, by the client's reason. */
const VOID_CREDENTIALS: ReadonlyMap<string, string> = new Map([
  ["stream_error_device_removed", "the device was removed from the linked devices on the phone"],
  ["stream_error_force_logout", "WhatsApp has logged this device out (516)"],
  ["failure_not_authorized", "WhatsApp no longer knows this device (401)"],
  ["failure_locked", "WhatsApp has locked the account (403)"],
  ["failure_banned", "WhatsApp has banned the number (406)"],
  ["primary_identity_key_change", "WhatsApp was set up again on the phone"],
]);

/** Meaning of a closed connection. Only a logout unlinks: no other reason may cost the credentials. */
export function closingOf({ reason, code, isLogout }: ClosedConnection): Closing {
  const reasonName = /^[a-z][a-z_]{0,59}$/.test(reason) ? reason : "no known reason";
  const detail = code === undefined ? reasonName : `${reasonName}, ${code}`;
  if (isLogout)
    return {
      kind: "unlinked",
      reason: VOID_CREDENTIALS.get(reason) ?? `WhatsApp has unlinked this device (${detail})`,
    };
  return (
    HARMLESS_CLOSINGS.get(reason) ?? { kind: "temporary", reason: `the connection to WhatsApp was closed (${detail})` }
  );
}

/** The client's report of a refused login. */
export interface LoginRefusal {
  readonly code: number | undefined;
  /** Time until the end of a restriction, ms; undefined if it is unknown. */
  readonly expiresInMs: number | undefined;
}

/** The client closes the connection after these codes, and reports that too; after any other code it logs in again. */
const CLOSED_BY_CLIENT: ReadonlySet<number | undefined> = new Set([401, 403, 405, 406, 409, 503]);

/** True if the client does not log in again after this code. */
export function staysClosed(code: number | undefined): boolean {
  return CLOSED_BY_CLIENT.has(code);
}

/** The meaning of a refused login that does not affect the credentials. Only faults of WhatsApp itself end soon. */
export function linkRefusal({ code }: LoginRefusal): Closing & { readonly kind: "temporary" | "declined" } {
  const codeText = code === undefined ? "without a code" : `(${code})`;
  if (code !== undefined && code >= 500 && code < 600)
    return { kind: "temporary", reason: `WhatsApp has an internal error ${codeText}` };
  return { kind: "declined", reason: `WhatsApp refused the login ${codeText}` };
}
