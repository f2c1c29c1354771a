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
  acceptOptional,
  acceptRecord,
  acceptText,
  isPlainObject,
  only,
  port,
  sampleRate,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { PortFault } from "./port-fault.ts";
import { type Accept, asks, notifies, reads, returns, throwing } from "./rules.ts";

/** Time the check of a token may take, ms. */
export const AUTHENTICATE_MS = 5_000;
/** Checks of tokens that may be pending at the same time. */
const MAX_CHECKS = 1_000;
/** Timeouts of a network's page, a password hash, and a body parser, ms. */
const REQUEST_MS = 30_000;

const principal = acceptOptional(acceptRecord<Principal>({ userId: acceptText }));

/** A principal; a falsy value, as programs in JavaScript may return, means that the token is unknown. */
const acceptPrincipal: Accept<Principal | undefined> = (value, name, parts) =>
  principal(value || undefined, name, parts);

/** The function itself, as a port with two methods. */
interface TokenChecks {
  one(token: string): Promise<Principal | undefined>;
  all?: Authenticate["all"] | undefined;
}

const TOKEN_CHECKS: Rules<TokenChecks> = {
  one: asks(AUTHENTICATE_MS, { accept: acceptPrincipal, maxPending: MAX_CHECKS }),
  all: asks(AUTHENTICATE_MS, {
    accept: (value, name, parts) => {
      if (!Array.isArray(value)) throw new PortFault(`${name} must return an array`);
      return value.map((item) => acceptPrincipal(item, name, parts));
    },
  }),
};

/** The token check of an embedding program. */
export function guardedAuthenticate(authenticate: Authenticate, parts: GuardParts): Guarded<Authenticate> {
  const port: TokenChecks = {
    one: (token) => authenticate(token),
    get all() {
      return authenticate.all?.bind(authenticate);
    },
  };
  const checks = guarded(port, TOKEN_CHECKS, "authenticate", parts);
  const all = async (tokens: readonly string[]) => {
    const principals = await checks.all?.(tokens);
    if (principals?.length !== tokens.length)
      throw new PortFault(`authenticate.all returned ${principals?.length} principals of ${tokens.length} tokens`);
    return principals;
  };
  const one = (token: string) => checks.one(token);
  return Object.assign(one, authenticate.all === undefined ? {} : { all }) as unknown as Guarded<Authenticate>;
}

const HANDLERS: Rules<SocketHandlers> = { open: notifies(), message: notifies(), close: notifies() };

const reply = acceptRecord<Reply>({ status: acceptCount, headers: only("an object", isPlainObject) });

const PAGES: Rules<NetworkPages> = {
  prefix: reads(acceptText, ""),
  page: asks(REQUEST_MS, { accept: acceptOptional(reply) }),
  artefact: asks(REQUEST_MS, { accept: acceptOptional(reply) }),
  phone: throwing(port(HANDLERS, "phone")),
};

const PASSWORDS: Rules<PasswordHasher> = {
  hash: asks(REQUEST_MS, { accept: acceptText }),
  verify: asks(REQUEST_MS, { accept: acceptFlag }),
  isOutdated: returns(acceptFlag, false),
};

const BODIES: Rules<BodyParser> = {
  parse: asks(REQUEST_MS, { accept: only("an object", isPlainObject) }),
  close: asks({ boundedBy: "src/ringport.ts" }),
};

const WEBHOOK_SENDER: Rules<WebhookSender> = {
  post: asks({ boundedBy: "src/application/webhooks/attempt.ts" }, { accept: acceptCount }),
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
  calleeRate: reads(sampleRate),
  event: notifies(),
  transcript: notifies(),
  callee: notifies(),
  over: notifies(),
};

/** The client of a live stream: a WebSocket, or an embedding program. */
export const guardedStreamClient = (client: StreamClient, parts: GuardParts): Guarded<StreamClient> =>
  guarded(client, STREAM_CLIENT, "stream", parts);
