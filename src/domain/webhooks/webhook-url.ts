import { shown } from "../../base/shown.ts";
import { mayBePublic } from "../public-address.ts";

/** Maximum length of an endpoint's address, characters. */
export const WEBHOOK_URL_LENGTH = 2048;

/**
 * Fault of an endpoint's address; undefined if there is none. The addresses of a name are checked again at each
 * delivery.
 * @param allowPrivate true to allow HTTP and private hosts
 */
export function webhookUrlFault(text: string, allowPrivate: boolean): string | undefined {
  if (text.length > WEBHOOK_URL_LENGTH)
    return `the URL has ${text.length} characters, at most ${WEBHOOK_URL_LENGTH} are allowed`;
  if (!URL.canParse(text)) return `${shown(text)} is not an absolute URL; use one like https://example.com/hooks`;
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== "https:" && !(allowPrivate && protocol === "http:"))
    return `the scheme is ${shown(protocol.slice(0, -1))}; use https`;
  if (username !== "" || password !== "") return "the URL contains a user name or a password; remove them";
  if (allowPrivate) return undefined;
  // The parser turns spellings such as 0x7f.1 and 2130706433 into 127.0.0.1.
  const host = hostname.replace(/^\[|\]$/g, "");
  if (!mayBePublic(host)) return `the host ${shown(host)} is not on the public Internet; use a public host name`;
  return undefined;
}
