import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { broken, type CheckStep, works } from "./step.ts";

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
    return broken(
      "configuration",
      `${summary}; the SRTP keys would be sent unencrypted`,
      "use TLS: add ;transport=tls to `server`",
    );
  return works("configuration", tls.insecure === true ? `${summary}; accepts any certificate (tls.insecure)` : summary);
}
