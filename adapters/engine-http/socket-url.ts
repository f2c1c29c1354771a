/** The address of a WebSocket below a base URL, which may begin with http, https, ws or wss. Throws a TypeError. */
export function socketUrl(baseUrl: string | URL, path: string): URL {
  const url = new URL(`${String(baseUrl).replace(/\/+$/, "")}${path}`);
  const secure = url.protocol === "https:" || url.protocol === "wss:";
  if (!secure && url.protocol !== "http:" && url.protocol !== "ws:")
    throw new TypeError(`the protocol "${url.protocol}" is none of a WebSocket server; use https or wss`);
  url.protocol = secure ? "wss:" : "ws:";
  return url;
}
