import { type ReadonlySignal, signal } from "@preact/signals";

const code = signal("");

/**
 * The one-time code of the address, `/console/register#code=…`; empty without one. It is removed from the address, so that
 * neither the history nor a screenshot keeps it.
 */
export const fragmentCode: ReadonlySignal<string> = code;

takeCode();
// An address entered in a tab that already shows the page does not reload it.
addEventListener("hashchange", takeCode);

function takeCode(): void {
  const fragment = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (fragment === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  code.value = fragment;
}
