import { createRingport, type Ringport } from "ringport";
import { type Client, type ClientOptions, createClient, type Instance } from "ringport/client";
import { afterAll, beforeAll } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A real Ringport in this process, at ten times the speed, and clients for it. */
export interface Server {
  readonly ringport: Ringport;
  /** A client, by default with a valid token. */
  client(options?: Partial<ClientOptions>): Client;
  /** Scans an instance's code and waits until the instance can place calls. */
  link(client: Client, instance: Instance): Promise<void>;
}

export const TEST_URL = "http://ringport.test/voice";

/** Starts a server for the test file. */
export function server(): Server {
  const ringport = createRingport({
    data: temporaryFolder("client"),
    basePath: "/voice",
    publicUrl: TEST_URL,
    embedded: { simulatorTimeScale: 0.1, synchronous: "NORMAL" },
  });
  let token = "";
  beforeAll(async () => {
    await ringport.start();
    ({ token } = await ringport.tokens.issue({ userName: "ana", label: "test" }));
  });
  afterAll(() => ringport.stop({ drainMs: 0 }));
  return {
    ringport,
    client: (options) =>
      createClient({ url: TEST_URL, token, fetch: (request) => ringport.fetch(request), ...options }),
    async link(client, { id }) {
      const { message } = await client.instances.configure(id);
      const [url] = /https?:\S+\w/.exec(message) ?? [];
      const response = await ringport.fetch(new Request(url!, { method: "POST" }));
      if (!response.ok) throw new Error(`${url} returned ${response.status}`);
      while ((await client.instances.get(id)).status !== "ACTIVE")
        await new Promise((resolve) => setTimeout(resolve, 25));
    },
  };
}
