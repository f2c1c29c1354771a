import { type Logger, silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem, type System } from "../../../../src/ports/system.ts";
import { resolveTrunk } from "../config/resolve-trunk.ts";
import type { Trunk } from "../config/trunk.ts";
import { createResolve } from "../transport/resolver.ts";
import type { Hop } from "../transport/transport.ts";
import { answerSteps } from "./answer-steps.ts";
import { callStep } from "./call-step.ts";
import { configurationStep } from "./configuration-step.ts";
import { connectionStep } from "./connection-step.ts";
import { broken, type CheckStep, messageOf, works } from "./step.ts";

/** How a trunk is checked. */
export interface CheckOptions {
  /** A number that may be called: a real call of a few seconds. Default: none is placed. */
  readonly call?: string | undefined;
  readonly system?: System | undefined;
  readonly logger?: Logger | undefined;
  /** Ends what is under way. */
  readonly signal?: AbortSignal | undefined;
}

const DNS_MS = 10_000;

/** Tries a trunk step by step, from its configuration to a call, and tells each step as it is known. Never throws. */
export async function* checkTrunk(given: Trunk, options: CheckOptions = {}): AsyncGenerator<CheckStep> {
  const { system = realSystem, logger = silentLogger, call } = options;
  const over = options.signal ?? new AbortController().signal;
  const trunk = resolveTrunk(given);
  const configuration = configurationStep(trunk);
  yield configuration;

  let hops: readonly Hop[];
  const nextHop = trunk.outboundProxy ?? trunk.server;
  try {
    const late = AbortSignal.timeout(DNS_MS);
    hops = await createResolve({ system })(nextHop, AbortSignal.any([over, late]));
    yield works("dns", `${nextHop} leads to ${hops.map(placeText).join(", then ")}`);
  } catch (fault) {
    yield broken("dns", messageOf(fault), "correct the host in `server`, or give its IP address");
    return;
  }

  const connection = await connectionStep(hops, trunk, { system, signal: over });
  yield connection;
  if (connection.state === "broken") return;

  let fine = configuration.state === "works";
  for await (const step of answerSteps(trunk, { system, logger, signal: over })) {
    fine &&= step.state !== "broken";
    yield step;
  }
  if (call !== undefined && fine) yield await callStep(given, call, { system, logger, signal: over });
}

const placeText = ({ address, port, kind }: Hop): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port} (${kind.toUpperCase()})`;
