import { onTestFinished } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { type SipOptions, sip } from "../../../../adapters/telephony/sip/index.ts";
import {
  type CallerId,
  DialError,
  type Line,
  type LineHealth,
  type Telephony,
} from "../../../../src/ports/telephony.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { type PlacedCall, TestNetwork } from "../../../../src/testing/telephony-network.ts";
import { CountedSystem } from "../../../support/counted-system.ts";
import { type FarEnd, type FarEndOptions, startFarEnd } from "../../../support/sip/far-end.ts";

const TIMEOUT_MS = 5_000;

/** A trunk to a test peer with one line; everything is closed after the test. */
export class Scene {
  readonly farEnd: FarEnd;
  readonly system: CountedSystem = new CountedSystem();
  readonly telephony: Telephony;
  readonly network: TestNetwork;
  #line: Line | undefined;

  private constructor(farEnd: FarEnd, trunk: Partial<Trunk>, media: SipOptions["media"]) {
    this.farEnd = farEnd;
    const trunkOptions = { name: "far", server: farEnd.uri, ...trunk };
    this.telephony = sip({ trunks: [trunkOptions], system: this.system, media })[0]!;
    this.network = new TestNetwork({ telephony: this.telephony, close: () => farEnd.close() }, TIMEOUT_MS);
    onTestFinished(() => this.close());
  }

  static async open(
    trunk: Partial<Trunk> = {},
    farEnd: FarEndOptions = {},
    media?: SipOptions["media"],
  ): Promise<Scene> {
    return new Scene(await startFarEnd(farEnd), trunk, media);
  }

  /** The trunk's line, once online. */
  async line(): Promise<Line> {
    this.#line ??= await this.network.linkedLine();
    return this.#line;
  }

  /** The first health report of a new line on the trunk. */
  async health(): Promise<LineHealth> {
    const { line } = await this.network.open(new TestLineHost());
    await line.link();
    return await line.probe();
  }

  async call(to: string, from?: CallerId): Promise<PlacedCall> {
    return await this.network.call(await this.line(), to, undefined, undefined, from);
  }

  /** The end of a call that we do not hang up: its cause and its detail. */
  async endOf(to: string): Promise<readonly [cause: string, detail: string | null]> {
    try {
      const { events } = await this.call(to);
      const { cause, detail } = await events.next("ended", TIMEOUT_MS);
      return [cause, detail];
    } catch (fault) {
      if (fault instanceof DialError) return [fault.release, fault.message];
      throw fault;
    }
  }

  close(): Promise<void> {
    this.#closePromise ??= this.network.close();
    return this.#closePromise;
  }
  #closePromise: Promise<void> | undefined;
}
