/**
 * The one-time code of the address that opened this page, `/console/register#code=…`. It is removed from the address, so
 * that neither the history nor a screenshot keeps it. Empty without one.
 */
const code = taken();

export function codeFromFragment(): string {
  return code;
}

function taken(): string {
  const found = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  if (found !== "") history.replaceState(null, "", location.pathname + location.search);
  return found;
}
