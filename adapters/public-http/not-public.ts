/** The host of an endpoint has private addresses only. The message names none of them, since users read it. */
export function notPublic(host: string): Error {
  return new Error(`the host "${host}" has no public address`);
}
