import { type Logger, silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem, type System } from "../../../../src/ports/system.ts";
import { cachedDns, type Dns, nodeDns } from "../../../sip-stack/transport/dns.ts";
import { createResolve } from "../../../sip-stack/transport/resolver.ts";
import type { Hop } from "../../../sip-stack/transport/transport.ts";
import { type ResolvedTrunk, resolveTrunk } from "../config/resolve-trunk.ts";
import type { Trunk } from "../config/trunk-config.ts";
import { answerSteps } from "./answer-steps.ts";
import { callStep } from "./call-step.ts";
import { connectionStep } from "./connection-step.ts";
import { dnsFix, dnsStep, silentQueries } from "./dns-step.ts";
import { brokenStep, type CheckStep, faultMessage, passedStep } from "./step.ts";

/** Options of {@link checkTrunk}. */
export interface CheckOptions {
  /** A number to call for a few seconds. Default: no call is placed. */
  readonly call?: string | undefined;
  readonly system?: System | undefined;
  readonly logger?: Logger | undefined;
  /** Default: the runtime's resolver. */
  readonly dns?: Dns | undefined;
  /** Aborts the check. */
  readonly signal?: AbortSignal | undefined;
}

const DNS_TIMEOUT_MS = 10_000;

/** Checks a trunk step by step, from its configuration to a call, and yields each step as soon as it is complete. Never throws. */
export async function* checkTrunk(input: Trunk, options: CheckOptions = {}): AsyncGenerator<CheckStep> {
  const { system = realSystem, logger = silentLogger, dns = nodeDns, call } = options;
  const signal = options.signal ?? new AbortController().signal;
  const trunk = resolveTrunk(input);
  const configuration = configurationStep(trunk);
  yield configuration;

  let hops: readonly Hop[];
  const nextHop = trunk.outboundProxy ?? trunk.server;
  try {
    const timeout = AbortSignal.timeout(DNS_TIMEOUT_MS);
    const silentTypes = silentQueries(nextHop, dns, system);
    hops = await createResolve({ system, dns: cachedDns(dns, system) })(nextHop, AbortSignal.any([signal, timeout]));
    yield dnsStep(nextHop, hops, await silentTypes);
  } catch (fault) {
    yield brokenStep("dns", faultMessage(fault), dnsFix(trunk, fault));
    return;
  }

  const connection = await connectionStep(hops, trunk, { system, signal });
  yield connection;
  if (connection.state === "broken") return;

  let isHealthy = configuration.state === "works";
  const kind = hops[0]?.kind ?? "udp";
  for await (const step of answerSteps(trunk, { system, logger, kind, signal })) {
    isHealthy &&= step.state !== "broken";
    yield step;
  }
  if (call !== undefined && isHealthy) yield await callStep(trunk, call, { system, logger, signal });
}

/** Summarizes the options, and finds a combination that cannot be intended. */
export function configurationStep(trunk: ResolvedTrunk): CheckStep {
  const { from, register, user, authUser, password, encrypted, srtp, codecs, rtpPorts, tls } = trunk;
  const account = password === undefined ? "no password" : `password for "${authUser}"`;
  const summary = [
    `calls from ${from}`,
    register ? `registers as "${user}"` : "does not register",
    account,
    `audio ${codecs.join(", ")} on ports ${rtpPorts[0]} to ${rtpPorts[1]}, SRTP ${srtp}`,
  ].join("; ");
  if (srtp === "required" && !encrypted)
    return brokenStep(
      "configuration",
      `${summary}; the SRTP keys would be sent unencrypted`,
      "use TLS: add ;transport=tls to `server`",
    );
  return passedStep(
    "configuration",
    tls.insecure === true ? `${summary}; accepts any certificate (tls.insecure)` : summary,
  );
}
