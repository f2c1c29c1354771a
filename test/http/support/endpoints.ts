import { guardedHttpPorts } from "../../../src/http/dependencies.ts";
import type { HttpRoute } from "../../../src/http/route.ts";
import { type Resource, resourcesOf } from "../../../src/http/router.ts";
import { allRoutes } from "../../../src/http/routes/all-routes.ts";
import { AUDIO_ID } from "./audio-fakes.ts";
import { BATCH_ID } from "./batch-fakes.ts";
import { CONSENT_PHONE } from "./consent-fakes.ts";
import { CALL_ID, dependencies, INSTANCE_ID } from "./fakes.ts";
import { DELIVERY_ID, WEBHOOK_ID } from "./webhook-fakes.ts";

/** One operation of the interface, as a test requests it. */
export interface Endpoint {
  readonly method: HttpRoute["method"];
  /** Path with `:name` for a parameter. */
  readonly path: string;
  /** The path with an id in place of each parameter. */
  readonly address: string;
  /** True if it requires an access token. */
  readonly isProtected: boolean;
  readonly route: HttpRoute;
}

const IDS: Readonly<Record<string, string>> = {
  callId: CALL_ID,
  instanceId: INSTANCE_ID,
  voiceId: "pt-BR-1",
  audioId: AUDIO_ID,
  batchId: BATCH_ID,
  position: "1",
  webhookId: WEBHOOK_ID,
  deliveryId: DELIVERY_ID,
  name: "heard.wav",
  number: "+12025550147",
  phone: CONSENT_PHONE,
};

/** A path with an id in place of each parameter. */
export function addressOf(path: string): string {
  return path.replace(/:(\w+)/g, (_, name: string) => IDS[name] ?? "x");
}

/** The pages of a network that keeps files of its calls. */
export const PAGES = {
  prefix: "simulator",
  page: async () => undefined,
  artefact: async () => undefined,
  phone: () => ({ message() {} }),
};
const routes = allRoutes(guardedHttpPorts(dependencies({ http: { pages: [PAGES] } })));

/** Every operation of all routes. */
export const ENDPOINTS: readonly Endpoint[] = routes.map((route) => ({
  method: route.method,
  path: route.path,
  address: addressOf(route.path),
  isProtected: route.operation.access !== "open",
  route,
}));

/** The operations that require an access token. */
export const PROTECTED: readonly Endpoint[] = ENDPOINTS.filter(({ isProtected }) => isProtected);

/** Every path with its allowed methods. */
export const RESOURCES: readonly Resource<HttpRoute>[] = resourcesOf(routes);
