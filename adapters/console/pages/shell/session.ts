import { computed, signal } from "@preact/signals";
import type { SessionState } from "../../api.ts";
import { onUnauthorized } from "./connection.ts";
import { consoleApi } from "./console-api.ts";

/** The person signed in, and the features of this server; undefined until the server has responded. */
export const signedIn = signal<SessionState | undefined>(undefined);
/** The account that is signed in; null if none is. */
export const account = computed(() => signedIn.value?.account ?? null);

/** Other tabs of this browser have the same cookie. */
const tabs = new BroadcastChannel("ringport-session");

/** Fault of the latest request for the session, if no response arrived. */
export const sessionFault = signal<unknown>(undefined);

/** Asks the server who is signed in. If the request fails, the page stays unchanged and {@link sessionFault} is set. */
export async function loadSignIn(): Promise<void> {
  try {
    signedIn.value = await consoleApi.get<SessionState>("session");
    sessionFault.value = undefined;
  } catch (fault) {
    sessionFault.value = fault;
  }
}

/** Takes over the session that a sign-in, a registration or a new password has begun. */
export function beginSession(state: SessionState): void {
  signedIn.value = state;
  tabs.postMessage("changed");
  // The reply marks this browser as one with a sign-in.
  consoleApi.get("session").catch(() => {});
}

/** Ends the session in this browser, in all its tabs. */
export async function signOut(): Promise<void> {
  await consoleApi.post("sign-out");
  await endedSession();
}

/** Follows an end of the session that the server has carried out, such as the deletion of the account. */
export async function endedSession(): Promise<void> {
  tabs.postMessage("changed");
  await loadSignIn();
}

/** Keeps the session up to date: other tabs sign in and out, the server may end it. */
export function followSession(): void {
  let isAsking = false;
  const again = (): void => {
    if (isAsking) return;
    isAsking = true;
    void loadSignIn().finally(() => {
      isAsking = false;
    });
  };
  tabs.addEventListener("message", again);
  onUnauthorized(() => {
    if (account.value !== null) again();
  });
}
