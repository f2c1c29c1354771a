import { type ReadonlySignal, signal } from "@preact/signals";

const code = signal("");

/**
 * The one-time code of the address, `/console/register#code=…`; empty without one. It is removed from the address, so that
 * neither the history nor a screenshot keeps it.
 */
export const fragmentCode: ReadonlySignal<string> = code;

take();
// If the address is entered in a tab that already shows the page, the browser does not load it again.
addEventListener("hashchange", take);

function take(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (found === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  code.value = found;
}
