import type { SessionState } from "../../api.ts";
import type { ViewRoute } from "./routes.ts";

/** Another page to show, or the page of the embedding program that signs people in. */
export type Redirect = { readonly page: string } | { readonly url: string };

/**
 * Destination instead of a page the person may not see; undefined if they may.
 * @param here the current page with its query, to return to after the sign-in
 */
export function redirectOf(
  { access, accounts = false }: Pick<ViewRoute, "access" | "accounts">,
  here: string,
  session: Pick<SessionState, "account" | "accounts" | "registration" | "sign_in_url">,
): Redirect | undefined {
  if (access === "anybody") return undefined;
  if (session.account !== null) {
    if (access === "nobody") return { page: pageAfter(here) };
    return accounts && !session.accounts ? { page: "/" } : undefined;
  }
  if (session.sign_in_url !== null) return { url: session.sign_in_url };
  if (access === "nobody") return undefined;
  if (session.registration === "first") return { page: "/register" };
  return { page: here === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}` };
}

/** The page to open after the sign-in: the `next` query parameter, if it is a page of the console. */
export function pageAfter(here: string): string {
  const next = new URLSearchParams(here.split("?")[1]).get("next") ?? "";
  return /^\/(?![/\\])/.test(next) ? next : "/";
}
