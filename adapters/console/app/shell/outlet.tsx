import { signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button, LinkButton } from "../components/button.tsx";
import { PageLayout } from "../components/page.tsx";
import { FaultNotice, Skeleton } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";
import { matchPath, ROUTES, redirectOf, type ViewProps, type ViewRoute } from "../views/all-views.ts";
import { href, navigate, path, query } from "./place.ts";
import { signedIn } from "./session.ts";

const t = dictionary({ en, pt });

type ShownView =
  | {
      readonly key: string;
      readonly route: ViewRoute;
      readonly params: ViewProps["params"];
      readonly View: ComponentType<ViewProps>;
    }
  | { readonly fault: unknown }
  | "missing";

/** The view on the screen; undefined until the first view has loaded. */
export const shownView = signal<ShownView | undefined>(undefined);

/** Shows the view for the current address; the previous view stays until the new one has loaded. */
export function useRoutes(): void {
  useSignalEffect(() => {
    const state = signedIn.value;
    if (state === undefined) return;
    const currentPath = path.value;
    const routeMatch = routeOf(currentPath);
    if (routeMatch === undefined) {
      shownView.value = "missing";
      return;
    }
    const search = query.value.toString();
    const redirect = redirectOf(routeMatch.route, search === "" ? currentPath : `${currentPath}?${search}`, state);
    if (redirect === undefined) void show(currentPath, routeMatch);
    else if ("url" in redirect) location.replace(redirect.url);
    else queueMicrotask(() => navigate(redirect.page, "replace"));
  });
}

function routeOf(pagePath: string): { readonly route: ViewRoute; readonly params: ViewProps["params"] } | undefined {
  for (const route of ROUTES) {
    const params = matchPath(route.path, pagePath);
    if (params) return { route, params };
  }
  return undefined;
}

async function show(shownPath: string, { route, params }: NonNullable<ReturnType<typeof routeOf>>): Promise<void> {
  const previous = shownView.peek();
  if (typeof previous === "object" && "key" in previous && previous.key === shownPath) return;
  try {
    const { default: View } = await route.view();
    if (path.peek() === shownPath) shownView.value = { key: shownPath, route, params, View };
  } catch (fault) {
    if (path.peek() === shownPath) shownView.value = { fault };
  }
}

/** Renders the view for the current address. */
export function Outlet() {
  const view = shownView.value;
  if (view === undefined) return <Skeleton lines={5} />;
  if (view === "missing")
    return (
      <PageLayout title={t.value.missing} lead={t.value.missingLead}>
        <LinkButton to={href("/")}>{t.value.toOverview}</LinkButton>
      </PageLayout>
    );
  // After an update, the server no longer has the files of the old pages.
  if ("fault" in view) return <FaultNotice error={view.fault} retry={() => location.reload()} />;
  const { key, params, View } = view;
  return (
    <ErrorBoundary key={key}>
      <View params={params} />
    </ErrorBoundary>
  );
}

/** Keeps the rest of the console working if a view throws. */
function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <PageLayout title={t.value.broken} lead={t.value.brokenLead}>
      <Button onClick={retry}>{t.value.tryAgain}</Button>
    </PageLayout>
  );
}
