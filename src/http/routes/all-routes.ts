import { PerUser } from "../../application/user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../application/user-limits/user-limits.ts";
import { bodyReaders } from "../bodies/body.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { openapiDocument } from "../docs/openapi.ts";
import { LinkingRequests } from "../link-pages/linking-requests.ts";
import { qrImages } from "../link-pages/qr.ts";
import { type RequestMeter, requestMeter } from "../metrics.ts";
import type { HttpRoute } from "../route.ts";
import { StreamTickets } from "../stream/stream-tickets.ts";
import { TokenWatches } from "../stream/token-watches.ts";
import { audioRoutes } from "./audio-routes.ts";
import { batchRoutes } from "./batch-routes.ts";
import { callRoutes } from "./call-routes.ts";
import { consentRoutes } from "./consent-routes.ts";
import { docsRoutes } from "./docs-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { instanceRoutes } from "./instance-routes.ts";
import { linkRoutes } from "./link-routes.ts";
import { listenRoutes } from "./listen-routes.ts";
import { artefactRoute, phoneRoute } from "./page-routes.ts";
import { pairingRoutes } from "./pairing-routes.ts";
import { recordingRoutes } from "./recording-routes.ts";
import { serverRoutes } from "./server-routes.ts";
import { streamRoutes } from "./stream-routes.ts";
import { voiceRoutes } from "./voice-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

/** Parts that the routes share with the application. */
export interface SharedParts {
  /** Path before `/v1`, without a trailing slash. Default: none. */
  readonly base?: string;
  readonly meter?: RequestMeter;
  readonly tickets?: StreamTickets;
}

/** Every route of the HTTP interface. The router tries them in this order, so the busiest come first. */
export function allRoutes(deps: HttpDependencies, sharedParts: SharedParts = {}): readonly HttpRoute[] {
  const { base = "", meter = requestMeter(), tickets = new StreamTickets(deps.system) } = sharedParts;
  const server = (): string => serverUrl(deps.publicUrl(), base);
  const document = async (): Promise<unknown> =>
    openapiDocument(routes, { limits: deps.limits, version: deps.version, base, server: server() });
  const readers = bodyReaders(deps);
  const { readJson } = readers;
  const waitLimit = new PerUser(MAX_AT_ONCE.waits);
  const watches = new TokenWatches(deps);
  const qrImage = qrImages();
  const linking = new LinkingRequests();
  const routes: readonly HttpRoute[] = [
    ...callRoutes(deps, readJson, server, waitLimit),
    ...recordingRoutes(deps),
    ...streamRoutes(deps, tickets, server, watches),
    ...listenRoutes(deps, watches),
    ...instanceRoutes(deps, readJson, { server, qrImage, linking }),
    ...linkRoutes(deps, server, qrImage),
    ...pairingRoutes(deps, readJson, linking),
    ...eventRoutes(deps, waitLimit, watches),
    ...audioRoutes(deps, readers),
    ...batchRoutes(deps, readJson),
    ...webhookRoutes(deps, readJson),
    ...consentRoutes(deps, readJson),
    ...voiceRoutes(deps, server),
    ...serverRoutes(deps, meter, document),
    ...docsRoutes(deps),
    ...deps.pages.flatMap((page) => (page.artefact ? [artefactRoute(page, deps)] : [])),
    ...deps.pages.flatMap((page) => (page.phone ? [phoneRoute(page, watches)] : [])),
  ];
  return routes;
}

/** The public URL with the base path appended, unless it already ends with it. */
const serverUrl = (publicUrl: string, base: string): string =>
  publicUrl.endsWith(base) ? publicUrl : `${publicUrl}${base}`;
