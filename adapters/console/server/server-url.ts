import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Ringport } from "../../../src/ringport.ts";

/** True if users reach this server over HTTPS, which a proxy may terminate. */
export function isHttps({ request }: RequestContext, publicUrl: string | undefined): boolean {
  return [request.url, publicUrl ?? ""].some((url) => /^https:/i.test(url));
}

/** URL of the HTTP API for users, base path included: the public one, or that of this request. */
export function serverUrl(
  { request }: RequestContext,
  { publicUrl, basePath }: Pick<Ringport, "publicUrl" | "basePath">,
): string {
  const [origin = ""] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(request.url) ?? [];
  return publicUrl?.replace(/\/+$/, "") ?? origin + basePath;
}
