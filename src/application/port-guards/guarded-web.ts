import type { Principal } from "../../domain/access/principal.ts";
import type { Authenticate } from "../../ports/authenticator.ts";
import type { BodyParser } from "../../ports/body-parser.ts";
import type { NetworkPages } from "../../ports/network-pages.ts";
import type { PasswordHasher } from "../../ports/password-hasher.ts";
import type { Reply, SocketHandlers } from "../../ports/web.ts";
import type { WebhookSender } from "../../ports/webhook-sender.ts";
import type { StreamClient } from "../call-audio/streams/stream-client.ts";
import {
  acceptCount,
  acceptFlag,
  acceptOnly,
  acceptOptional,
  acceptPort,
  acceptRecord,
  acceptSampleRate,
  acceptText,
  isPlainObject,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { PortFault } from "./port-fault.ts";
import { type Accept, mayThrow, notifies, reads, resolves, returns } from "./rules.ts";

/** Maximum time for checking a token, ms. */
export const AUTHENTICATE_MS = 5_000;
/** Maximum number of token checks pending at the same time. */
const MAX_CHECKS = 1_000;
/** Timeout for a network's page, a password hash and a body parser, ms. */
const REQUEST_MS = 30_000;

const acceptOptionalPrincipal = acceptOptional(acceptRecord<Principal>({ userId: acceptText }));

/** A principal; a falsy value, as programs in JavaScript may return, means that the token is unknown. */
const acceptPrincipal: Accept<Principal | undefined> = (value, name, parts) =>
  acceptOptionalPrincipal(value || undefined, name, parts);

/** The function itself, as a port with two methods. */
interface TokenChecks {
  check(token: string): Promise<Principal | undefined>;
  all?: Authenticate["all"] | undefined;
}

const TOKEN_CHECKS: Rules<TokenChecks> = {
  check: resolves(AUTHENTICATE_MS, { accept: acceptPrincipal, maxPending: MAX_CHECKS }),
  all: resolves(AUTHENTICATE_MS, {
    accept: (value, name, parts) => {
      if (!Array.isArray(value)) throw new PortFault(`${name} must return an array`);
      return value.map((item) => acceptPrincipal(item, name, parts));
    },
  }),
};

/** The token check of an embedding program. */
export function guardedAuthenticate(authenticate: Authenticate, parts: GuardParts): Guarded<Authenticate> {
  const port: TokenChecks = {
    check: (token) => authenticate(token),
    get all() {
      return authenticate.all?.bind(authenticate);
    },
  };
  const checks = guarded(port, TOKEN_CHECKS, "authenticate", parts);
  const all = async (tokens: readonly string[]) => {
    const principals = await checks.all?.(tokens);
    if (principals?.length !== tokens.length)
      throw new PortFault(`authenticate.all returned ${principals?.length} principals for ${tokens.length} tokens`);
    return principals;
  };
  const checkOne = (token: string) => checks.check(token);
  return Object.assign(checkOne, authenticate.all === undefined ? {} : { all }) as unknown as Guarded<Authenticate>;
}

const HANDLERS: Rules<SocketHandlers> = { open: notifies(), message: notifies(), close: notifies() };

const acceptReply = acceptRecord<Reply>({ status: acceptCount, headers: acceptOnly("an object", isPlainObject) });

const PAGES: Rules<NetworkPages> = {
  prefix: reads(acceptText, ""),
  page: resolves(REQUEST_MS, { accept: acceptOptional(acceptReply) }),
  artefact: resolves(REQUEST_MS, { accept: acceptOptional(acceptReply) }),
  phone: mayThrow(acceptPort(HANDLERS, "phone")),
};

const PASSWORDS: Rules<PasswordHasher> = {
  hash: resolves(REQUEST_MS, { accept: acceptText }),
  verify: resolves(REQUEST_MS, { accept: acceptFlag }),
  isOutdated: returns(acceptFlag, false),
};

const BODIES: Rules<BodyParser> = {
  parse: resolves(REQUEST_MS, { accept: acceptOnly("an object", isPlainObject) }),
  close: resolves({ boundedBy: "src/ringport.ts" }),
};

const WEBHOOK_SENDER: Rules<WebhookSender> = {
  post: resolves({ boundedBy: "src/application/webhooks/attempt.ts" }, { accept: acceptCount }),
};

export const guardedPages = (pages: NetworkPages, parts: GuardParts): Guarded<NetworkPages> =>
  guarded(pages, PAGES, "pages", parts);

export const guardedPasswords = (passwords: PasswordHasher, parts: GuardParts): Guarded<PasswordHasher> =>
  guarded(passwords, PASSWORDS, "passwords", parts);

export const guardedBodies = (bodies: BodyParser, parts: GuardParts): Guarded<BodyParser> =>
  guarded(bodies, BODIES, "bodies", parts);

export const guardedWebhookSender = (sender: WebhookSender, parts: GuardParts): Guarded<WebhookSender> =>
  guarded(sender, WEBHOOK_SENDER, "webhooks", parts);

const STREAM_CLIENT: Rules<StreamClient> = {
  calleeRate: reads(acceptSampleRate),
  event: notifies(),
  transcript: notifies(),
  callee: notifies(),
  over: notifies(),
};

/** The client of a live stream: a WebSocket, or an embedding program. */
export const guardedStreamClient = (client: StreamClient, parts: GuardParts): Guarded<StreamClient> =>
  guarded(client, STREAM_CLIENT, "stream", parts);
