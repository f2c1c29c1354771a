import { type ReadonlySignal, signal } from "@preact/signals";

const code = signal("");

/**
 * The one-time code from the URL, `/console/register#code=…`; empty if there is none. It is removed from the URL, so
 * that neither the history nor a screenshot contains it.
 */
export const fragmentCode: ReadonlySignal<string> = code;

takeCode();
// Entering a URL in a tab that already shows the page does not reload the page.
addEventListener("hashchange", takeCode);

function takeCode(): void {
  const fragment = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (fragment === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  code.value = fragment;
}
