import { computed, signal } from "@preact/signals";
import type { SessionState } from "../../api.ts";
import { consoleApi } from "./console-api.ts";
import { onUnauthorized } from "./server-reachability.ts";

/** The signed-in user and the server's features; undefined until the server has responded. */
export const signedIn = signal<SessionState | undefined>(undefined);
/** The signed-in account; null if there is none. */
export const account = computed(() => signedIn.value?.account ?? null);

/** Other tabs of this browser have the same cookie. */
const tabs = new BroadcastChannel("ringport-session");

/** Fault of the latest request for the session, if it failed. */
export const sessionFault = signal<unknown>(undefined);

/** Loads the session from the server. If that fails, the page stays unchanged and {@link sessionFault} is set. */
export async function loadSignIn(): Promise<void> {
  try {
    signedIn.value = await consoleApi.get<SessionState>("session");
    sessionFault.value = undefined;
  } catch (fault) {
    sessionFault.value = fault;
  }
}

/** Shows the session started by a sign-in, a registration or a new password. */
export function beginSession(state: SessionState): void {
  signedIn.value = state;
  tabs.postMessage("changed");
  // The response marks this browser as one that has signed in.
  consoleApi.get("session").catch(() => {});
}

/** Ends the session in this browser, in all its tabs. */
export async function signOut(): Promise<void> {
  await consoleApi.post("sign-out");
  await reloadEndedSession();
}

/** Updates all tabs after the server has ended the session, for example because the account was deleted. */
export async function reloadEndedSession(): Promise<void> {
  tabs.postMessage("changed");
  await loadSignIn();
}

/** Keeps the session up to date when another tab signs in or out, or the server ends it. */
export function followSession(): void {
  let isLoading = false;
  const reload = (): void => {
    if (isLoading) return;
    isLoading = true;
    void loadSignIn().finally(() => {
      isLoading = false;
    });
  };
  tabs.addEventListener("message", reload);
  onUnauthorized(() => {
    if (account.value !== null) reload();
  });
}
