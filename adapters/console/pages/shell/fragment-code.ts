import { type ReadonlySignal, signal } from "@preact/signals";

const code = signal("");

/**
 * The one-time code of the address, `/console/register#code=…`; empty without one. It is removed from the address, so that
 * neither the history nor a screenshot keeps it.
 */
export const fragmentCode: ReadonlySignal<string> = code;

take();
// The address was put into a tab that shows the page already: the browser does not load it again.
addEventListener("hashchange", take);

function take(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (found === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  code.value = found;
}
