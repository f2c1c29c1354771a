import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../adapters/telephony/sip/index.ts";
import type { RingportOptions } from "../../../src/options.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { until } from "../../support/server-client.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Stage } from "./stage.ts";

/** The user of the line. */
export const ADA = { userId: "ada" };

/** Options of {@link startTrunkLine}; the rest are options of the library. */
export interface TrunkLineOptions extends Pick<RingportOptions, "agent"> {
  /** Options of the trunk. Default: its calls offer PCMU. */
  readonly trunk: Pick<Trunk, "server"> & Partial<Trunk>;
  /** Thread of the audio. */
  readonly media?: "thread" | "worker";
}

/** Starts the library with an instance on a trunk, and waits until it is ACTIVE; both end with the stage. */
export async function startTrunkLine(
  stage: Stage,
  { trunk, media, ...options }: TrunkLineOptions,
): Promise<{ readonly ringport: Ringport; readonly instanceId: string }> {
  const trunks: Trunk[] = [{ name: "trunk", users: "*", codecs: ["PCMU"], ...trunk }];
  const ringport = createRingport({
    telephony: sip({ trunks, ...(media && { media }) }),
    data: temporaryFolder("trunk-line"),
    authenticate: async () => ADA,
    ...options,
  });
  stage.add(ringport, (it) => it.stop({ drainMs: 0 }));
  await ringport.start();
  const { id: instanceId } = await ringport.instances.create(ADA, { name: "Line", provider: "sip/trunk" });
  const line = () => ringport.instances.get(ADA, instanceId);
  await until(line, ({ status }) => status === "ACTIVE", 8_000, "ACTIVE");
  return { ringport, instanceId };
}
