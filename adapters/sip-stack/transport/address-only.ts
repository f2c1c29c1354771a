import type { LookupFunction } from "node:net";

/**
 * The `lookup` of sockets that are given addresses, never names. It returns the address synchronously: a datagram reaches
 * the network before `send` returns, and its bytes may be used again. A name, which would be a fault, is not looked up.
 */
export const addressOnly: LookupFunction = (host, options, found) => {
  const family = host.includes(":") ? 6 : 4;
  if (options?.all) found(null, [{ address: host, family }]);
  else found(null, host, family);
};
