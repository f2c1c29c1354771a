import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";

/** @throws {Refusal} `demo_token_restricted`: the principal has a demo token */
export function refuseDemo({ demoInstanceId }: Principal, detail: string): void {
  if (demoInstanceId !== undefined) throw new Refusal("demo_token_restricted", detail);
}
