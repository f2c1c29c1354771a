import type { ComponentType } from "preact";

/** Input of a view from the address. */
export interface ViewProps {
  /** The values of the `:names` of its path. */
  readonly params: Readonly<Record<string, string>>;
}

/** One page of the console. */
export interface ViewRoute {
  /** Below the console, with `:name` for a parameter. */
  readonly path: string;
  /** Visitors who may open it: `account` for signed-in ones, `nobody` for signed-out ones, `anybody` for both. */
  readonly access: "account" | "nobody" | "anybody";
  /** Only with accounts of Ringport, not with the sessions of an embedding program. */
  readonly accounts?: boolean;
  /** The view, in a separate file that is loaded when it is opened first. */
  readonly view: () => Promise<{ readonly default: ComponentType<ViewProps> }>;
}

/** Every page. To add one, add a line here and, if it appears in the navigation, one in `navigation.tsx`. */
export const ROUTES: readonly ViewRoute[] = [
  { path: "/", access: "account", view: () => import("../views/overview.tsx") },
  { path: "/phone", access: "account", view: () => import("../views/phone.tsx") },
  { path: "/instances", access: "account", view: () => import("../views/instances.tsx") },
  { path: "/instances/:id", access: "account", view: () => import("../views/instance.tsx") },
  { path: "/webhooks", access: "account", view: () => import("../views/webhooks.tsx") },
  { path: "/webhooks/:id", access: "account", view: () => import("../views/webhook.tsx") },
  { path: "/calls", access: "account", view: () => import("../views/calls.tsx") },
  { path: "/calls/new", access: "account", view: () => import("../views/new-call.tsx") },
  { path: "/calls/:id", access: "account", view: () => import("../views/call.tsx") },
  { path: "/tokens", access: "account", accounts: true, view: () => import("../views/tokens.tsx") },
  { path: "/account", access: "account", view: () => import("../views/account.tsx") },
  { path: "/audit", access: "account", accounts: true, view: () => import("../views/audit.tsx") },
  { path: "/sign-in", access: "nobody", accounts: true, view: () => import("../views/sign-in.tsx") },
  { path: "/register", access: "nobody", accounts: true, view: () => import("../views/register.tsx") },
  { path: "/reset", access: "nobody", accounts: true, view: () => import("../views/reset.tsx") },
];
