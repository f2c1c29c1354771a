/** Several trunks under one provider name: if a trunk does not accept a call, the next one is tried. */
export interface Route {
  /** Instances choose it with `provider: "sip/<name>"`: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** The route's trunks; at least one. */
  readonly trunks: readonly RouteTrunk[];
}

/** A trunk in a route. */
export interface RouteTrunk {
  /** The name of the trunk. */
  readonly trunk: string;
  /** The trunk's order: trunks with a lower order are tried first. Default: its place in the list, from 1. */
  readonly order?: number | undefined;
  /** This trunk's share of the calls among trunks with the same order: 0 to 65535. Default: 1. */
  readonly weight?: number | undefined;
  /**
   * Prefixes of the numbers that it is tried for: `["+49", "+1415"]`. Only the trunks with the longest matching prefix
   * are tried. Default: every number.
   */
  readonly prefixes?: readonly string[] | undefined;
}
