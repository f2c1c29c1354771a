import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { Ringport } from "../../../src/ringport.ts";

/** True if people reach this server over HTTPS; a proxy in front of it may end that. */
export function isHttps({ request }: RequestContext, publicUrl: string | undefined): boolean {
  return [request.url, publicUrl ?? ""].some((url) => /^https:/i.test(url));
}

/** The address of the HTTP interface for people: the public one, which includes the base path, or the one by which they have come. */
export function serverUrl(
  { request }: RequestContext,
  { publicUrl, basePath }: Pick<Ringport, "publicUrl" | "basePath">,
): string {
  const [origin = ""] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(request.url) ?? [];
  return publicUrl?.replace(/\/+$/, "") ?? origin + basePath;
}
