import { signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button, LinkButton } from "../components/button.tsx";
import { PageLayout } from "../components/page.tsx";
import { FaultNotice, Skeleton } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";
import { href, navigate, path, query } from "./place.ts";
import { match, ROUTES, redirectOf, type ViewProps, type ViewRoute } from "./routes.ts";
import { signedIn } from "./session.ts";

const t = dictionary({ en, pt });

type Shown =
  | {
      readonly key: string;
      readonly route: ViewRoute;
      readonly params: ViewProps["params"];
      readonly View: ComponentType<ViewProps>;
    }
  | { readonly fault: unknown }
  | "missing";

/** View on the screen; undefined before the first view has arrived. */
export const shownPlace = signal<Shown | undefined>(undefined);

/** Shows the view for the current address; the previous view stays until the new one has loaded. */
export function useRoutes(): void {
  useSignalEffect(() => {
    const state = signedIn.value;
    if (state === undefined) return;
    const at = path.value;
    const found = routeOf(at);
    if (found === undefined) {
      shownPlace.value = "missing";
      return;
    }
    const search = query.value.toString();
    const redirect = redirectOf(found.route, search === "" ? at : `${at}?${search}`, state);
    if (redirect === undefined) void show(at, found);
    else if ("url" in redirect) location.replace(redirect.url);
    else queueMicrotask(() => navigate(redirect.page, "replace"));
  });
}

function routeOf(at: string): { readonly route: ViewRoute; readonly params: ViewProps["params"] } | undefined {
  for (const route of ROUTES) {
    const params = match(route.path, at);
    if (params) return { route, params };
  }
  return undefined;
}

async function show(at: string, { route, params }: NonNullable<ReturnType<typeof routeOf>>): Promise<void> {
  const before = shownPlace.peek();
  if (typeof before === "object" && "key" in before && before.key === at) return;
  try {
    const { default: View } = await route.view();
    if (path.peek() === at) shownPlace.value = { key: at, route, params, View };
  } catch (fault) {
    if (path.peek() === at) shownPlace.value = { fault };
  }
}

/** The view of the address. */
export function Outlet() {
  const current = shownPlace.value;
  if (current === undefined) return <Skeleton lines={5} />;
  if (current === "missing")
    return (
      <PageLayout title={t.value.missing} lead={t.value.missingLead}>
        <LinkButton to={href("/")}>{t.value.toOverview}</LinkButton>
      </PageLayout>
    );
  // A new version of the server no longer has the files of the old pages.
  if ("fault" in current) return <FaultNotice error={current.fault} retry={() => location.reload()} />;
  const { key, params, View } = current;
  return (
    <ErrorBoundary key={key}>
      <View params={params} />
    </ErrorBoundary>
  );
}

/** Keeps the rest of the console working if a view throws. */
function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, again] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <PageLayout title={t.value.broken} lead={t.value.brokenLead}>
      <Button onClick={again}>{t.value.tryAgain}</Button>
    </PageLayout>
  );
}
