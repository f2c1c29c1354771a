/** An instance's kind of network, determined by its provider's name. */
export type NetworkKind = "simulator" | "account" | "trunk" | "other";

export function networkKind(provider: string): NetworkKind {
  if (provider === "simulator") return "simulator";
  if (provider === "sip") return "account";
  return provider.startsWith("sip/") ? "trunk" : "other";
}

/** The operator's name for the trunk or the network. */
export function operatorName(provider: string): string {
  return provider.replace(/^sip\//, "");
}
