import { computed, signal } from "@preact/signals";

/** The console's path, such as `/console`, under the server's base path. This file is served from assets/ under it. */
export const CONSOLE = new URL("..", import.meta.url).pathname.replace(/\/+$/, "");

/** Paths under the console's path that are not pages. */
const NON_PAGE_PATH = /^\/(?:v1|api|assets|simulator)(?:\/|$)/;

/** The page's address: the path under the console's path, with the query. */
const address = signal(currentAddress());

/** The path of the page, such as `/calls`; `/` for the start page. */
export const path = computed(() => address.value.replace(/[?#].*$/, "").replace(/(?!^)\/+$/, "") || "/");
/** The query of the page. */
export const query = computed(() => new URL(address.value, location.origin).searchParams);
/** Number of navigations: from the first one on, the focus moves to the heading of the new page. */
export const navigations = signal(0);

/** The address of a page for a link: `href("/calls")` is `/console/calls`. */
export function href(page: string): string {
  return CONSOLE + (page === "/" ? "" : page);
}

/** Navigates to a page: `navigate("/calls/call_1")`. @param mode `replace` replaces the current history entry */
export function navigate(page: string, mode: "push" | "replace" = "push"): void {
  history[mode === "push" ? "pushState" : "replaceState"](null, "", href(page));
  updateAddress();
  if (mode === "push") scrollTo(0, 0);
}

/** Changes the page's query without adding a history entry. */
export function changeQuery(values: Readonly<Record<string, string | undefined>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(values)) value ? next.set(name, value) : next.delete(name);
  const text = next.toString();
  history.replaceState(null, "", href(path.value) + (text === "" ? "" : `?${text}`));
  address.value = currentAddress();
}

/** Handles the browser's buttons, and every link to a console page. */
export function startNavigation(): void {
  addEventListener("popstate", updateAddress);
  document.addEventListener("click", (event) => {
    const page = pageOf(event);
    if (page === undefined) return;
    event.preventDefault();
    navigate(page);
  });
}

/** The page to navigate to for a click; undefined if the browser should handle it. */
function pageOf(event: MouseEvent): string | undefined {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return undefined;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link?.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return undefined;
  if (link.pathname !== CONSOLE && !link.pathname.startsWith(`${CONSOLE}/`)) return undefined;
  const page = link.pathname.slice(CONSOLE.length) || "/";
  const isSamePage = link.hash !== "" && page === path.value;
  return NON_PAGE_PATH.test(page) || isSamePage ? undefined : page + link.search + link.hash;
}

function updateAddress(): void {
  address.value = currentAddress();
  navigations.value++;
}

function currentAddress(): string {
  const { pathname, search } = location;
  return (pathname.slice(CONSOLE.length) || "/") + search;
}
