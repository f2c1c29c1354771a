import { isIP } from "node:net";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { AgentReply } from "../../../sip-stack/dialog/user-agent-options.ts";
import type { MediaAddress } from "../../../sip-stack/media/media-address.ts";
import { type SipResponse, statusText } from "../../../sip-stack/message/sip-message.ts";
import { parseHostPort } from "../../../sip-stack/message/uri.ts";
import { parseSdp } from "../../../sip-stack/sdp/sdp.ts";
import { canonicalAddress, isPrivate } from "../../../sip-stack/transport/addresses.ts";
import type { TransportKind } from "../../../sip-stack/transport/transport.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { openStack, type SipStack } from "../open-stack.ts";
import { Deadline } from "../registration/signal-deadline.ts";
import { credentialsFix } from "./fixes.ts";
import { brokenStep, type CheckStep, faultMessage, passedStep, skippedStep } from "./step.ts";

const RESPONSE_TIMEOUT_MS = 6_000;

interface Parts {
  readonly system: System;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The transport to the server. */
  readonly kind: TransportKind;
}

/** Steps from the responses to OPTIONS and REGISTER, and from the codecs that the server lists. */
export async function* answerSteps(trunk: ResolvedTrunk, parts: Parts): AsyncGenerator<CheckStep> {
  let stack: SipStack;
  try {
    stack = await openStack({ trunk, ...parts, onChange() {}, trace() {} });
  } catch (fault) {
    yield brokenStep("options", faultMessage(fault), "free the port of `listen`, or choose another one");
    return;
  }
  try {
    const probe = await probeOptions(trunk, stack, parts);
    yield probe.step;
    if (probe.step.state === "broken") return;
    const address = await stack.address(parts.signal).catch(() => undefined);
    if (address !== undefined)
      yield* addressStep(trunk.publicAddress, probe.reply && seenBy(probe.reply.response), address);
    yield await registrationStep(trunk, stack);
    yield codecsStep(trunk, probe.reply?.response);
  } finally {
    await stack.close();
  }
}

async function probeOptions(
  trunk: ResolvedTrunk,
  stack: SipStack,
  { system, signal, kind }: Parts,
): Promise<{ readonly step: CheckStep; readonly reply?: AgentReply }> {
  const deadline = new Deadline(system, RESPONSE_TIMEOUT_MS, `no response within ${RESPONSE_TIMEOUT_MS / 1_000} s`);
  const startedAt = system.monotonic();
  try {
    const reply = await stack.options(AbortSignal.any([deadline.signal, signal]));
    return { step: optionsStep(trunk, reply, Math.round(system.monotonic() - startedAt)), reply };
  } catch (fault) {
    return { step: silentStep(trunk, faultMessage(fault), kind) };
  } finally {
    deadline.cancel();
  }
}

function optionsStep(trunk: ResolvedTrunk, { response, refusal, request }: AgentReply, ms: number): CheckStep {
  const { status, headers } = response;
  const product = headers.get("Server") ?? headers.get("User-Agent");
  const summary = `${statusText(response)} after ${ms} ms${product === undefined ? "" : `, from ${product}`}`;
  if (status === 503)
    return brokenStep("options", summary, "the server is overloaded or out of order; ask its operator");
  if (status === 401 || status === 407) {
    if (trunk.password === undefined && !trunk.register)
      return skippedStep(
        "options",
        `${summary}: it requires a password`,
        "set `user` and `password`, unless the server authenticates us by our address",
      );
    return brokenStep(
      "options",
      `${summary}: ${refusal?.detail ?? "it does not accept the password"}`,
      credentialsFix(status, refusal?.code),
    );
  }
  const digest = digestText(request.headers.get("Authorization") ?? request.headers.get("Proxy-Authorization"));
  const seenAddress = seenText(response);
  const fix = status === 403 ? credentialsFix(status) : null;
  return passedStep("options", `${summary}${digest}${seenAddress}`, fix);
}

/** The realm that accepted the password, and the algorithm. */
function digestText(credentials: string | undefined): string {
  if (credentials === undefined) return "";
  const realm = /realm="([^"]*)"/.exec(credentials)?.[1] ?? "";
  const algorithm = /algorithm=([\w-]+)/.exec(credentials)?.[1] ?? "MD5";
  return `; the password was accepted (realm "${realm}", ${algorithm})`;
}

/** Our address as the peer sees it (RFC 3581), which shows a NAT. */
function seenText(response: SipResponse): string {
  const via = response.headers.get("Via") ?? "";
  const receivedAddress = seenBy(response);
  const port = /;\s*rport=(\d+)/i.exec(via)?.[1];
  const sentBy = /^SIP\/2\.0\/\w+\s+([^;\s]+)/i.exec(via)?.[1];
  if (receivedAddress === undefined) return "";
  return `; it sees us as ${receivedAddress}${port === undefined ? "" : ` port ${port}`}, and our Via has ${sentBy ?? "no address"}`;
}

/** Our address as the peer sees it; undefined if its response has none. */
function seenBy({ headers }: SipResponse): string | undefined {
  return /;\s*received=([^;,\s]+)/i.exec(headers.get("Via") ?? "")?.[1];
}

function silentStep(trunk: ResolvedTrunk, reason: string, kind: TransportKind): CheckStep {
  if (trunk.probe === "none") return skippedStep("options", `${reason}; \`probe\` is "none", so this is not a fault`);
  if (kind !== "udp")
    return brokenStep(
      "options",
      `the port accepts ${kind.toUpperCase()} connections, but does not respond: ${reason}`,
      "it is not a SIP port for this transport, or a middlebox drops SIP: check port and transport of `server`, or try ;transport=udp",
    );
  return brokenStep(
    "options",
    reason,
    'check host, port and transport of `server`, and the firewall; if the server never answers OPTIONS, set `probe` to "none"',
  );
}

async function registrationStep(trunk: ResolvedTrunk, { presence }: SipStack): Promise<CheckStep> {
  if (!trunk.register) return skippedStep("registration", "`register` is off");
  presence.start();
  const health = await presence.checkHealth();
  if (health.state === "online")
    return passedStep("registration", `"${trunk.user}" was registered, and unregistered again`);
  const { response, refusal } = presence.refusedReply ?? {};
  return brokenStep("registration", health.reason, credentialsFix(response?.status, refusal?.code));
}

/** Compares the codecs; only some servers list theirs before a call. */
function codecsStep(trunk: ResolvedTrunk, response: SipResponse | undefined): CheckStep {
  const offeredCodecs = trunk.codecs.join(", ");
  const body = response === undefined ? "" : new TextDecoder().decode(response.body);
  const lines = parseSdp(body)?.media.find(({ kind }) => kind === "audio")?.lines ?? [];
  const serverCodecs = lines.flatMap(({ type, value }) =>
    type === "a" ? (/^rtpmap:\d+ ([\w-]+)\//.exec(value)?.[1] ?? []) : [],
  );
  if (serverCodecs.length === 0)
    return skippedStep(
      "codecs",
      `the server does not list its codecs; we offer ${offeredCodecs}, and a call shows whether they match`,
    );
  const commonCodecs = trunk.codecs.filter((codec) =>
    serverCodecs.some((name) => name.toLowerCase() === codec.toLowerCase()),
  );
  if (commonCodecs.length > 0)
    return passedStep("codecs", `${commonCodecs.join(", ")} of its ${serverCodecs.join(", ")}`);
  return brokenStep(
    "codecs",
    `the server has ${serverCodecs.join(", ")}, and we offer ${offeredCodecs}`,
    "name one of them in `codecs`",
  );
}

/**
 * Checks whether remote audio can reach us: compares the address in our SDP with the address that the server sees. Yields
 * no step if there is no finding.
 * @param configured `publicAddress`
 * @param seenAddress the address that the server sees; undefined if unknown
 */
export function* addressStep(
  configured: string | undefined,
  seenAddress: string | undefined,
  { local, advertised, isPublic }: MediaAddress,
): Generator<CheckStep> {
  const configuredHost =
    configured === undefined || isIP(configured) !== 0 ? configured : parseHostPort(configured)?.host;
  if (
    configuredHost !== undefined &&
    isIP(configuredHost) !== 0 &&
    seenAddress !== undefined &&
    differ(configuredHost, seenAddress)
  ) {
    const fix = `set \`publicAddress\` to ${seenAddress}, or leave it out to use the address that the server sees`;
    yield brokenStep(
      "address",
      `\`publicAddress\` is ${configuredHost}, and the server sees us as ${seenAddress}`,
      fix,
    );
  } else if (isPublic && isPrivate(advertised)) {
    const fix = "set `publicAddress` to the address that this machine has on the internet";
    yield brokenStep(
      "address",
      `our SDP names ${advertised}, a private address, and the server is on the internet`,
      fix,
    );
  } else if (differ(local, advertised)) {
    const fix = "forward the UDP ports of `rtpPorts` unchanged, from the internet to this machine";
    yield passedStep("address", `this machine is behind a NAT: it has ${local}, and our SDP names ${advertised}`, fix);
  }
}

const differ = (a: string, b: string): boolean => canonicalAddress(a) !== canonicalAddress(b);
