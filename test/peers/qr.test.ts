import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ON_NODE, onEach, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { send } from "../support/server-http.ts";
import { folder, run, withTools } from "./tools.ts";

onEach([ON_NODE], (target) => {
  withTools("the QR code", ["zbarimg"], () => {
    const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });
    const files = folder();

    test("is read by zbarimg, and what it reads links the phone", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const answer = expected(200, await client.get(`/v1/instances/${id}/configure`));
      const png = join(files, "code.png");
      writeFileSync(png, Buffer.from(answer.json<{ qrCodeBase64: string }>().qrCodeBase64, "base64"));
      const read = run("zbarimg", "--quiet", "--raw", png).trim();
      expect(read).toMatch(new RegExp(`^${server.base}/simulator/link/[^/\\s]+$`));
      expect((await send("POST", read)).status).toBe(200);
      await client.waitForInstance(id, "ACTIVE");
    });
  });
});
