import { expect, test } from "vitest";
import { withConsole } from "../../../adapters/console/index.ts";
import { createRingport } from "../../../src/ringport.ts";
import { requestOf } from "../../http/support/ask.ts";
import { FROM_PAGE } from "./console-scene.ts";

const host = "127.0.0.1:8080";
const cookie = "ringport_session_8080=0123456789abcdef";
const PATHS = ["/console/api/session", "/console/api/tokens", "/console/v1/calls"];

async function responseCodes(options: Parameters<typeof createRingport>[0], isStopped: boolean) {
  const ringport = withConsole(createRingport(options), { assets: [] });
  if (isStopped) await ringport.stop();
  const replies = await Promise.all(
    PATHS.map((path) => ringport.handle(requestOf({ path, token: null, headers: { ...FROM_PAGE, host, cookie } }))),
  );
  await ringport.stop();
  return replies.map(({ status, headers, body }) => [
    status,
    JSON.parse(String(body)).code,
    Number(headers["retry-after"]) > 0,
  ]);
}

test("a stopped Ringport responds 503 stopping", async () => {
  expect(await responseCodes({}, true)).toEqual(PATHS.map(() => [503, "stopping", true]));
});

test("a Ringport that cannot start responds 503 not_ready", async () => {
  expect(await responseCodes({ data: "/dev/null/nowhere" }, false)).toEqual(PATHS.map(() => [503, "not_ready", true]));
});
