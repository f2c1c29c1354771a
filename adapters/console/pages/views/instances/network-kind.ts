/** Kind of network of an instance, by the name of its provider. */
export type NetworkKind = "simulator" | "account" | "trunk" | "other";

export function networkKind(provider: string): NetworkKind {
  if (provider === "simulator") return "simulator";
  if (provider === "sip") return "account";
  return provider.startsWith("sip/") ? "trunk" : "other";
}

/** The name of the trunk or the network that an operator has given. */
export function ownName(provider: string): string {
  return provider.replace(/^sip\//, "");
}
