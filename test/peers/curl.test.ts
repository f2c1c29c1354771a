import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import type { ProblemView } from "../support/server-client.ts";
import { folder, run, withTools } from "./tools.ts";

describeEach([ON_NODE], (target) => {
  withTools("curl", ["curl"], () => {
    const server = useServer(target);
    const files = folder();

    test.for([
      ["as it is", []],
      ["in chunks", ["-H", "Transfer-Encoding: chunked"]],
      ["waiting for 100 Continue", ["-H", "Expect: 100-continue"]],
    ] as const)("sees the 413 of an upload that is too large, sent %s", async ([, options]) => {
      const { token } = await server.as("ada");
      const upload = join(files, "large");
      writeFileSync(upload, Buffer.alloc(64 << 20, " "));
      const response = run(
        ...(["curl", "-sS", "-i", "-X", "POST", "--data-binary", `@${upload}`] as const),
        ...["-H", `Authorization: Bearer ${token}`, "-H", "Content-Type: application/json", ...options],
        `${server.base}/v1/calls`,
      );
      const [head = "", body = ""] = response.replace(/^HTTP\/1\.1 100[\s\S]*?\r\n\r\n/, "").split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 413 /);
      expect(JSON.parse(body) as ProblemView).toMatchObject({ status: 413, code: "body_too_large", limit: 1 << 24 });
    });
  });

  withTools("the curl line", ["curl"], () => {
    const server = useServer(target);

    test("that the server prints on its first start creates an instance", async () => {
      const line = /^ *(curl .*)$/m.exec(server.output)?.[1] ?? "";
      expect(JSON.parse(run("bash", "-c", line))).toMatchObject({ status: "CREATED" });
    });
  });
});
