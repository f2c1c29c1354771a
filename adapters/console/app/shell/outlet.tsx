import { signal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button, LinkButton } from "../components/button.tsx";
import { PageLayout } from "../components/page.tsx";
import { FaultNotice, Skeleton } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/shell.ts";
import pt from "../dictionary/pt/shell.ts";
import { matchPath, type PageProps, type PageRoute, ROUTES, redirectOf } from "../pages/all-pages.ts";
import { href, navigate, path, query } from "./place.ts";
import { signedIn } from "./session.ts";

const t = dictionary({ en, pt });

type ShownPage =
  | {
      readonly key: string;
      readonly route: PageRoute;
      readonly params: PageProps["params"];
      readonly Page: ComponentType<PageProps>;
    }
  | { readonly fault: unknown }
  | "missing";

/** The page on the screen; undefined until the first page has loaded. */
export const shownPage = signal<ShownPage | undefined>(undefined);

/** Shows the page for the current address; the previous page stays until the new one has loaded. */
export function useRoutes(): void {
  useSignalEffect(() => {
    const state = signedIn.value;
    if (state === undefined) return;
    const currentPath = path.value;
    const routeMatch = routeOf(currentPath);
    if (routeMatch === undefined) {
      shownPage.value = "missing";
      return;
    }
    const search = query.value.toString();
    const redirect = redirectOf(routeMatch.route, search === "" ? currentPath : `${currentPath}?${search}`, state);
    if (redirect === undefined) void show(currentPath, routeMatch);
    else if ("url" in redirect) location.replace(redirect.url);
    else queueMicrotask(() => navigate(redirect.page, "replace"));
  });
}

function routeOf(pagePath: string): { readonly route: PageRoute; readonly params: PageProps["params"] } | undefined {
  for (const route of ROUTES) {
    const params = matchPath(route.path, pagePath);
    if (params) return { route, params };
  }
  return undefined;
}

async function show(shownPath: string, { route, params }: NonNullable<ReturnType<typeof routeOf>>): Promise<void> {
  const previous = shownPage.peek();
  if (typeof previous === "object" && "key" in previous && previous.key === shownPath) return;
  try {
    const { default: Page } = await route.page();
    if (path.peek() === shownPath) shownPage.value = { key: shownPath, route, params, Page };
  } catch (fault) {
    if (path.peek() === shownPath) shownPage.value = { fault };
  }
}

/** Renders the page for the current address. */
export function Outlet() {
  const shown = shownPage.value;
  if (shown === undefined) return <Skeleton lines={5} />;
  if (shown === "missing")
    return (
      <PageLayout title={t.value.missing} lead={t.value.missingLead}>
        <LinkButton to={href("/")}>{t.value.toOverview}</LinkButton>
      </PageLayout>
    );
  // After an update, the server no longer has the files of the old pages.
  if ("fault" in shown) return <FaultNotice error={shown.fault} retry={() => location.reload()} />;
  const { key, params, Page } = shown;
  return (
    <ErrorBoundary key={key}>
      <Page params={params} />
    </ErrorBoundary>
  );
}

/** Keeps the rest of the console working if a page throws. */
function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <PageLayout title={t.value.broken} lead={t.value.brokenLead}>
      <Button onClick={retry}>{t.value.tryAgain}</Button>
    </PageLayout>
  );
}
