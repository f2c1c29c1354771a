import type { RequestLike } from "../../ports/web.ts";

/** A WHATWG request as a server would have received it: the fragment of a URL is not sent. */
export function withoutFragment(request: Request): RequestLike {
  const fragment = request.url.indexOf("#");
  if (fragment < 0) return request;
  const { method, headers } = request;
  return {
    method,
    url: request.url.slice(0, fragment),
    headers,
    get body() {
      return request.body;
    },
  };
}
