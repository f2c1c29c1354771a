import type { ComponentType } from "preact";
import type { SessionState } from "../../api.ts";

/** The props of a page, taken from the address. */
export interface PageProps {
  /** The values of the `:names` in its path. */
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a page. */
export interface PageRoute {
  /** Path under the console's path, with `:name` for a parameter. */
  readonly path: string;
  /** Visitors who may open it. */
  readonly access: "signed-in" | "signed-out" | "everyone";
  /** True if the page exists only if Ringport manages the accounts, not with the sessions of an embedding program. */
  readonly accounts?: boolean;
  /** The page, in a separate file that is loaded when it is first opened. */
  readonly page: () => Promise<{ readonly default: ComponentType<PageProps> }>;
}

/** All pages. To add one, add a line here and, if it belongs in the navigation, one in `shell/navigation.tsx`. */
export const ROUTES: readonly PageRoute[] = [
  { path: "/", access: "signed-in", page: () => import("./overview.tsx") },
  { path: "/phone", access: "signed-in", page: () => import("./phone.tsx") },
  { path: "/instances", access: "signed-in", page: () => import("./instances.tsx") },
  { path: "/instances/:id", access: "signed-in", page: () => import("./instance.tsx") },
  { path: "/webhooks", access: "signed-in", page: () => import("./webhooks.tsx") },
  { path: "/webhooks/:id", access: "signed-in", page: () => import("./webhook.tsx") },
  { path: "/calls", access: "signed-in", page: () => import("./calls.tsx") },
  { path: "/calls/new", access: "signed-in", page: () => import("./new-call.tsx") },
  { path: "/calls/:id", access: "signed-in", page: () => import("./call.tsx") },
  { path: "/batches", access: "signed-in", page: () => import("./batches.tsx") },
  { path: "/batches/new", access: "signed-in", page: () => import("./new-batch.tsx") },
  { path: "/batches/:id", access: "signed-in", page: () => import("./batch.tsx") },
  { path: "/tokens", access: "signed-in", accounts: true, page: () => import("./tokens.tsx") },
  { path: "/account", access: "signed-in", page: () => import("./account.tsx") },
  { path: "/audit", access: "signed-in", accounts: true, page: () => import("./audit.tsx") },
  { path: "/sign-in", access: "signed-out", accounts: true, page: () => import("./sign-in.tsx") },
  { path: "/register", access: "signed-out", accounts: true, page: () => import("./register.tsx") },
  { path: "/reset", access: "signed-out", accounts: true, page: () => import("./reset.tsx") },
];

/** The values of the `:names` in a pattern such as `/calls/:id`; undefined if the path does not match. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const patternParts = pattern.split("/");
  const pathParts = path.split("/");
  if (patternParts.length !== pathParts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of patternParts.entries()) {
    const value = pathParts[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return undefined;
    } else {
      const text = decodePart(value);
      if (text === undefined || text === "") return undefined;
      params[part.slice(1)] = text;
    }
  }
  return params;
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Another page to show, or the embedding program's sign-in page. */
export type Redirect = { readonly page: string } | { readonly url: string };

/**
 * Destination if the user may not see the page; undefined if they may.
 * @param currentPage the current page with its query, to return to after signing in
 */
export function redirectOf(
  { access, accounts = false }: Pick<PageRoute, "access" | "accounts">,
  currentPage: string,
  session: Pick<SessionState, "account" | "accounts" | "registration" | "sign_in_url">,
): Redirect | undefined {
  if (access === "everyone") return undefined;
  if (session.account !== null) {
    if (access === "signed-out") return { page: pageAfter(currentPage) };
    return accounts && !session.accounts ? { page: "/" } : undefined;
  }
  if (session.sign_in_url !== null) return { url: session.sign_in_url };
  if (access === "signed-out") return undefined;
  if (session.registration === "first") return { page: "/register" };
  return { page: currentPage === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(currentPage)}` };
}

/** The page to open after signing in: the `next` query parameter, if it is a console page. */
export function pageAfter(currentPage: string): string {
  const next = new URLSearchParams(currentPage.split("?")[1]).get("next") ?? "";
  return /^\/(?![/\\])/.test(next) ? next : "/";
}
