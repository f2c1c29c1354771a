import type { BatchUseCases } from "../application/batches/batch-use-cases.ts";
import type { Guarded } from "../application/port-guards/guarded.ts";
import { guardedMp3Stream } from "../application/port-guards/guarded-engines.ts";
import { guardedAuthenticate, guardedBodies, guardedPages } from "../application/port-guards/guarded-web.ts";
import type {
  AudioUseCases,
  CallUseCases,
  ConsentUseCases,
  InstanceUseCases,
  QueryUseCases,
  WebhookUseCases,
} from "../application/use-cases.ts";
import type { Limits } from "../domain/limits.ts";
import type { Mp3Stream } from "../ports/audio-decoder.ts";
import type { Authenticate } from "../ports/authenticator.ts";
import type { BodyParser } from "../ports/body-parser.ts";
import type { Logger } from "../ports/logger.ts";
import type { NetworkPages } from "../ports/network-pages.ts";
import type { System } from "../ports/system.ts";
import type { CorsOption } from "./cors.ts";
import type { RateLimit } from "./rate-limit.ts";

/** The ports of the HTTP interface, as adapters and embedding programs provide them. */
export interface HttpPorts {
  readonly authenticate: Authenticate;
  readonly pages: readonly NetworkPages[];
  readonly mp3Stream?: (() => Promise<Mp3Stream>) | undefined;
  readonly bodies?: BodyParser | undefined;
}

/** Input of {@link createHttp}: the ports are not guarded yet. */
export type HttpParts = Omit<HttpDependencies, keyof HttpPorts> & HttpPorts;

/** Dependencies of the HTTP interface. */
export interface HttpDependencies {
  readonly instances: InstanceUseCases;
  readonly calls: CallUseCases;
  readonly batches: BatchUseCases;
  readonly queries: QueryUseCases;
  readonly webhooks: WebhookUseCases;
  readonly consents: ConsentUseCases;
  readonly audio: AudioUseCases;
  readonly authenticate: Guarded<Authenticate>;
  readonly pages: readonly Guarded<NetworkPages>[];
  readonly limits: Limits;
  readonly system: System;
  /** Creates the id of a request that has no X-Request-Id. Default: random ids. */
  readonly newRequestId?: (() => string) | undefined;
  readonly log: Logger;
  /** Path before `/v1`, such as `/api`. Default: none. */
  readonly basePath?: string | undefined;
  /** The origins whose web pages may send requests. Default: off. */
  readonly cors?: CorsOption | undefined;
  /** Number of requests each token may make. Default: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Files of the documentation page: `swagger-ui-bundle.js`, `swagger-ui.css`; undefined if they are not shipped. */
  readonly asset?: ((name: string) => Promise<Uint8Array | undefined>) | undefined;
  /** Public URL of this server, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Switches live streams on. Default: off. */
  readonly streamPreview?: boolean | undefined;
  /** Decodes the MP3 of a streaming client. Default: streams carry PCM, mu-law and A-law only. */
  readonly mp3Stream?: Guarded<() => Promise<Mp3Stream>> | undefined;
  /** Parses large bodies. Default: the thread that carries audio parses them. */
  readonly bodies?: Guarded<BodyParser> | undefined;
  /** True if the ports are closing, so that running requests can fail. Default: never. */
  readonly closing?: (() => boolean) | undefined;
  /** Version of the package, for `/openapi.json`. */
  readonly version: string;
}

/** The dependencies of the HTTP interface, with guarded ports. */
export function guardedHttpPorts(parts: HttpParts): HttpDependencies {
  const { authenticate, pages, mp3Stream, bodies, ...others } = parts;
  return {
    ...others,
    authenticate: guardedAuthenticate(authenticate, parts),
    pages: pages.map((page) => guardedPages(page, parts)),
    mp3Stream: mp3Stream && guardedMp3Stream(mp3Stream, parts),
    bodies: bodies && guardedBodies(bodies, parts),
  };
}
