import { join } from "node:path";
import { onTestFinished } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { createRingport, type RingportOptions } from "../../../../src/index.ts";
import { type FarEnd, type Script, startFarEnd } from "../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const NUMBER = "+12025550100";

/** A response of the HTTP interface. */
export interface HttpReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape itself
  readonly body: any;
}

/** Ringport with a trunk to a scripted callee, used through its HTTP interface; closed after the test. */
export class HttpScene {
  readonly farEnd: FarEnd;
  readonly send: (method: string, path: string, body?: unknown) => Promise<HttpReply>;
  readonly #instanceId: string;

  private constructor(farEnd: FarEnd, send: HttpScene["send"], instanceId: string) {
    this.farEnd = farEnd;
    this.send = send;
    this.#instanceId = instanceId;
  }

  static async open(
    callee: Script,
    {
      trunk = {},
      media = "thread",
      ...options
    }: RingportOptions & { readonly trunk?: Partial<Trunk>; readonly media?: "thread" | "worker" } = {},
  ): Promise<HttpScene> {
    const farEnd = await startFarEnd({ callees: { "*": callee } });
    const data = temporaryFolder("http-scene");
    const ringport = createRingport({
      data,
      storage: sqliteStorage({ path: join(data, "calls.sqlite") }),
      telephony: sip({ trunks: [{ name: "acme", server: farEnd.uri, users: "*", ...trunk }], media }),
      streamPreview: true,
      ...options,
    });
    onTestFinished(async () => {
      await ringport.stop({ drainMs: 0 });
      await farEnd.close();
    });
    const { token } = await ringport.tokens.issue({ userName: "ana", label: "test" });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=60" };
    const send = async (method: string, path: string, body?: unknown): Promise<HttpReply> => {
      const request = new Request(`http://ringport.test${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const response = await ringport.fetch(request);
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    };
    const { body } = await send("POST", "/v1/instances", { name: "Desk" });
    return new HttpScene(farEnd, send, body.id);
  }

  /** Creates a live-stream call with these additional fields. */
  create(fields: Readonly<Record<string, unknown>> = {}): Promise<HttpReply> {
    const call = { instanceId: this.#instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: NUMBER }, ...fields };
    return this.send("POST", "/v1/calls", call);
  }

  /** Creates a call, waits for its end, and reads it. @param expand such as `outcome,media` */
  async endedCall(fields?: Readonly<Record<string, unknown>>, expand = "outcome"): Promise<HttpReply["body"]> {
    const { body } = await this.create(fields);
    for (;;) {
      const { body: call } = await this.send("GET", `/v1/calls/${body.id}?expand=${expand}`);
      if (call.ended_at !== null) return call;
    }
  }
}
