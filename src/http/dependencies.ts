import type { CallUseCases, InstanceUseCases, QueryUseCases } from "../application/use-cases.ts";
import type { Limits } from "../domain/limits.ts";
import type { Mp3Stream } from "../ports/audio-decoder.ts";
import type { Authenticate } from "../ports/authenticator.ts";
import type { BodyParser } from "../ports/body-parser.ts";
import type { Logger } from "../ports/logger.ts";
import type { System } from "../ports/system.ts";
import type { TelephonyPages } from "../ports/telephony.ts";
import type { CorsOption } from "./cors.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Everything the HTTP interface is made of. */
export interface HttpDependencies {
  readonly instances: InstanceUseCases;
  readonly calls: CallUseCases;
  readonly queries: QueryUseCases;
  readonly authenticate: Authenticate;
  readonly pages: readonly TelephonyPages[];
  readonly limits: Limits;
  readonly system: System;
  /** Names a request that brought no X-Request-Id; random by default. */
  readonly newRequestId?: (() => string) | undefined;
  readonly log: Logger;
  /** Path in front of `/v1`, such as `/api`; none by default. */
  readonly basePath?: string | undefined;
  /** Which web pages of other origins may call. Off by default. */
  readonly cors?: CorsOption | undefined;
  /** How many requests each token may make; none by default. */
  readonly rateLimit?: RateLimit | undefined;
  /** Files of the documentation page: `swagger-ui-bundle.js`, `swagger-ui.css`; undefined where they were not shipped. */
  readonly asset?: ((name: string) => Promise<Uint8Array | undefined>) | undefined;
  /** Where people reach this server, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Live streams are switched on. Off by default. */
  readonly streamPreview?: boolean | undefined;
  /** Decodes the MP3 that a client streams; without it, streams carry PCM and mu-law only. */
  readonly mp3Stream?: (() => Promise<Mp3Stream>) | undefined;
  /** Parses large bodies; without it they are parsed on the thread that carries audio. */
  readonly bodies?: BodyParser | undefined;
  /** Whether the ports are closing, so that requests under way can fail; they never are by default. */
  readonly closing?: (() => boolean) | undefined;
  /** Of the package; shown in `/openapi.json`. */
  readonly version: string;
}
