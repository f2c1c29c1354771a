import { writeQuotedString } from "../message/grammar.ts";
import type { DigestChallenge } from "./digest-challenge.ts";

/** User, password and nonce count of a response. */
export interface DigestCredentials {
  readonly user: string;
  readonly password: string;
  readonly cnonce: string;
  /** 1 for the first request with this nonce. */
  readonly count: number;
}

/** The value of Authorization or Proxy-Authorization for a request (RFC 7616 section 3.4). */
export function digestResponse(
  { realm, nonce, opaque, algorithm, algorithmText, counted }: DigestChallenge,
  { user, password, cnonce, count }: DigestCredentials,
  { method, uri }: { readonly method: string; readonly uri: string },
): string {
  const { hash } = algorithm;
  const account = hash(`${user}:${realm}:${password}`);
  const secret = algorithm.session ? hash(`${account}:${nonce}:${cnonce}`) : account;
  const nc = count.toString(16).padStart(8, "0");
  const salt = counted ? `${nonce}:${nc}:${cnonce}:auth` : nonce;
  const response = hash(`${secret}:${salt}:${hash(`${method}:${uri}`)}`);
  const quoted = Object.entries({ username: user, realm, nonce, uri, response });
  const params = quoted.map(([name, value]) => `${name}=${writeQuotedString(value)}`);
  if (algorithmText !== undefined) params.push(`algorithm=${algorithmText}`);
  if (counted || algorithm.session) params.push(`cnonce=${writeQuotedString(cnonce)}`);
  if (opaque !== undefined) params.push(`opaque=${writeQuotedString(opaque)}`);
  if (counted) params.push("qop=auth", `nc=${nc}`);
  return `Digest ${params.join(", ")}`;
}
